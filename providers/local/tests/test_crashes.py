"""A provider that dies at any point leaves nothing behind and makes nothing twice."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from provider_local.directory import Directory
from provider_local.file import File
from provider_local.sqlite_database import SQLiteDatabase

from crossply.provider.try_out import try_out


class Machine(NamedTuple):
    """The files of one run."""

    root: Path

    def files(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.glob("*/**/*"))

    def remove(self) -> None:
        for path in self.root.glob("*/*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def edit(self) -> None:
        for path in self.root.glob("*/*"):
            path.write_text("edited")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Machine]:
    """Returns another machine each time."""
    numbers = itertools.count()

    def fresh() -> Machine:
        root = tmp_path / str(next(numbers))
        root.mkdir()
        monkeypatch.setenv("CROSSPLY_LOCAL_ROOT", str(root))
        return Machine(root)

    return fresh


def test_files(machine: Callable[[], Machine]) -> None:
    report = try_out(
        File,
        {"content": "hello"},
        changes=[{"content": "other"}],
        client=machine,
        existing=Machine.files,
        drift=Machine.edit,
    )
    assert report.ok, report


def test_directories(machine: Callable[[], Machine]) -> None:
    report = try_out(Directory, {}, client=machine, existing=Machine.files, drift=Machine.remove)
    assert report.ok, report


def test_databases(machine: Callable[[], Machine]) -> None:
    migrations = ["CREATE TABLE people (name TEXT)", "INSERT INTO people VALUES ('Ada')"]
    report = try_out(SQLiteDatabase, {"migrations": migrations}, client=machine, existing=Machine.files)
    assert report.ok, report
