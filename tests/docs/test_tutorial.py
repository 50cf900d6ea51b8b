"""Every command of the tutorial runs as it is printed, and says what the page says."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from markdown_session import Run, Write, matches, session

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "tutorial" / "first-composition.md"


def test_the_tutorial_works_as_printed(tmp_path: pathlib.Path) -> None:
    steps = session(PAGE.read_text())
    assert sum(isinstance(step, Run) for step in steps) >= 5, "the page was read"
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for step in steps:
        if isinstance(step, Write):
            (tmp_path / step.name).write_text(step.content)
            continue
        done = subprocess.run(
            step.command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        assert matches(step.output, done.stdout), f"$ {step.command}\n{done.stdout}"
