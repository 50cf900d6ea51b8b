"""Tests name the programs that they use, so that each is skipped only where one of those is missing."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.programs import DEBIAN

ROOT = Path(__file__).parents[1]
WITHOUT_TESTS = ROOT / "tests" / "support" / "cluster" / "credentials.py"
"""Also runs where no test does: for `make test-cluster`, which needs openssl in any case."""
SCRIPT = ROOT / "tools" / "system_packages.sh"


def test_the_script_installs_the_programs_of_the_tests() -> None:
    listed = re.findall(
        r"([\w-]+):([\w-]+)", re.search(r'^programs="(.*?)"', SCRIPT.read_text(), re.M | re.S)[1]
    )
    assert dict(listed) == DEBIAN


@pytest.mark.parametrize("program", DEBIAN)
def test_the_script_names_the_package_of_a_program_that_is_missing(program: str, tmp_path: Path) -> None:
    for name in {*DEBIAN, "sh", "id"} - {program}:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    text = SCRIPT.read_text().replace(":/usr/local/sbin:/usr/sbin:/sbin", "")
    text = text.replace("/usr/lib/postgresql/*/bin", "")
    (tmp_path / "script").write_text(text)
    done = subprocess.run(
        ["/bin/sh", tmp_path / "script", "--check"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(f"NOT INSTALLED: {DEBIAN[program]}. ")


@pytest.mark.parametrize("program", [*DEBIAN, "kubectl", "go", "fish", "zsh"])
def test_no_test_searches_for_a_program_on_its_own(program: str) -> None:
    """They ask tests/support/programs.py, which skips them with a reason."""
    own = re.compile(rf"""(?:which|run|Popen|check_output|check_call)\(\s*\[?["']{program}["']""")
    places = [
        f"{path.relative_to(ROOT)}:{text[: match.start()].count(os.linesep) + 1}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path not in (Path(__file__), WITHOUT_TESTS)
        for text in [path.read_text()]
        for match in own.finditer(text)
    ]
    assert not places
