"""Running a command on files, or on a text given on standard input, in a folder of its own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crossply.cli.main import main
from crossply.values.yaml import load


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def last_line(self) -> str:
        return self.err.splitlines()[-1].removeprefix("crossply: error: ")

    @property
    def value(self) -> Any:
        assert self.code == 0, self.err
        return load(self.out)


class Bench:
    """A folder to work in, and the commands that are run there."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.chdir(folder)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def read(self, name: str) -> Any:
        return load((self.folder / name).read_bytes())

    def run(self, words: str, stdin: str = "") -> Result:
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = main(words.split())
        return Result(code, *self._capsys.readouterr())
