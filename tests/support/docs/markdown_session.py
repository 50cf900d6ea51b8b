"""Reading a page that is a session at the terminal: files to write, commands to run, output to expect.

A fenced block after `<!-- file: NAME -->` is the content of a file. In a `console` block every line that
starts with `$ ` is a command; what follows is its output, in which an ellipsis (…) stands for anything:
within its line, or, alone on a line, for any lines.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import NamedTuple

from tests.support.paths import ROOT

NEWCOMER_PAGES = tuple(
    ROOT / "docs" / name for name in ("index.md", "how-to/install.md", "tutorial/first-composition.md")
)
"""What somebody does who has Python alone, in this order."""
_FILE = re.compile(r"<!-- file: (\S+) -->\n+```\w*\n(.*?)```", re.S)
_BLOCK = re.compile(r"<!-- file: \S+ -->\n+```\w*\n.*?```|```console\n(.*?)```", re.S)


class Write(NamedTuple):
    name: str
    content: str


class Run(NamedTuple):
    command: str
    output: str


def session(text: str) -> list[Write | Run]:
    """What a reader does, in the order of the page."""
    steps: list[Write | Run] = []
    for block in _BLOCK.finditer(text):
        file = _FILE.fullmatch(block.group(0))
        if file:
            steps.append(Write(file.group(1), file.group(2)))
            continue
        for part in re.split(r"^\$ ", block.group(1), flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            steps.append(Run(command, output))
    return steps


def matches(expected: str, output: str) -> bool:
    """Whether the output is as printed on the page."""
    parts = re.split(r"^…$", expected.strip(), flags=re.M)
    pattern = ".*?".join(r"[^\n]*".join(map(re.escape, part.split("…"))) for part in parts)
    return re.fullmatch(pattern, output.strip(), re.S) is not None


class Reader:
    """Runs the commands of a page in one shell: directories and variables stay as they were set."""

    def __init__(self, folder: pathlib.Path, environ: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.environ = {**os.environ, **(environ or {})}
        self.environ.pop("PYTEST_ADDOPTS", None)  # these are for us, not for what a reader runs
        own = str(pathlib.Path(sys.executable).parent)
        self.environ["PATH"] = f"{own}{os.pathsep}{self.environ['PATH']}"

    def run_page(self, page: pathlib.Path, at_least: int) -> None:
        """Run everything on the page; each command must print the output that is there."""
        steps = session(page.read_text())
        assert sum(isinstance(step, Run) for step in steps) >= at_least, "the page was read"
        for step in steps:
            if isinstance(step, Write):
                (self.folder / step.name).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / step.name).write_text(step.content)
            else:
                output = self.run(step.command)
                assert matches(step.output, output), f"$ {step.command}\n{output}"

    def run(self, command: str, within: float = 180) -> str:
        """Run a command; return its output."""
        with tempfile.TemporaryDirectory() as scratch:
            after = f"{command}\npwd > {scratch}/pwd; env -0 > {scratch}/env"
            with open(f"{scratch}/said", "w+b") as output:
                # A file and not a pipe: what a command leaves running in the background keeps a pipe open.
                subprocess.run(
                    ["bash", "-c", after],
                    cwd=self.folder,
                    env=self.environ,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    timeout=within,
                    check=False,
                )
                output.seek(0)
                text = output.read().decode()
            self._keep(pathlib.Path(scratch))
        return text

    def _keep(self, scratch: pathlib.Path) -> None:
        """The directory and the variables that the command left."""
        if (scratch / "env").exists():
            self.folder = pathlib.Path((scratch / "pwd").read_text().strip())
            pairs = (scratch / "env").read_text().rstrip("\0").split("\0")
            self.environ = dict(pair.partition("=")[::2] for pair in pairs)
