"""Tests name the programs that they use, so that each is skipped only where one of those is missing."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.programs import DEBIAN, ELSEWHERE

ROOT = Path(__file__).parents[1]
WITHOUT_TESTS = ROOT / "tests" / "support" / "cluster" / "credentials.py"
"""Also runs where no test does: for `make test-cluster`, which needs openssl in any case."""
SCRIPT = ROOT / "tools" / "system_packages.sh"


def test_the_script_installs_the_programs_of_the_tests() -> None:
    listed = re.findall(
        r"([\w-]+):([\w-]+)", re.search(r'^programs="(.*?)"', SCRIPT.read_text(), re.M | re.S)[1]
    )
    assert dict(listed) == DEBIAN


def test_the_readme_names_the_packages_that_are_installed() -> None:
    sentence = re.search(
        r"`make test` also installs the programs that some\ntests use: (.*?)\.",
        (ROOT / "README.md").read_text(),
        re.S,
    )
    assert sentence is not None
    assert set(re.split(r",\s+|\s+and\s+", sentence[1])) == set(DEBIAN.values())


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


_REQUESTED = re.compile(r"\b(?:needs|require|path_of|find)\(([^()]*)\)")
_LISTS_OF_NAMES = ("tests/functions/test_sdk_image.py", "tests/histories/preload.py")
"""Here a list that begins with a program has several, one of which is used."""


@pytest.mark.parametrize("program", sorted({*DEBIAN, *ELSEWHERE, "pgrep", "lsof", "ps"} - {"bash"}))
def test_no_test_runs_a_program_that_it_does_not_name(program: str) -> None:
    """They ask tests/support/programs.py, which skips them with a reason."""
    own = re.compile(rf"""(?:which\(|\[)\s*["']{program}["']""")
    places = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        name, text = str(path.relative_to(ROOT)), path.read_text()
        if path in (Path(__file__), WITHOUT_TESTS) or name in _LISTS_OF_NAMES:
            continue
        if any(f'"{program}"' in request for request in _REQUESTED.findall(text)):
            continue
        places += [f"{name}:{text[: match.start()].count(os.linesep) + 1}" for match in own.finditer(text)]
    assert not places
