"""Every recipe of the cookbook works: its files and commands, tried as written, print what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.docs.pages import ROOT

COOKBOOK = ROOT / "docs/cookbook"
RECIPES = sorted(path for path in COOKBOOK.glob("*.md") if path.name != "index.md")
ELLIPSIS = "…"
_FILE = re.compile(r'^```yaml title="([\w./-]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files_in(page: Path) -> dict[str, str]:
    return dict(_FILE.findall(page.read_text()))


def commands_in(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command of a page, with the lines of output that follow it."""
    for session in _SESSION.findall(page.read_text()):
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, *output = part.splitlines()
            yield command, output


@pytest.fixture
def kitchen(tmp_path: Path) -> dict[str, str]:
    """An environment whose `crossply` is the one of this interpreter."""
    program = tmp_path / "bin/crossply"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom crossply.cli.main import entry\nentry()\n")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "NO_COLOR": "1"}


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_produces_the_output_on_its_page(
    recipe: Path, tmp_path: Path, kitchen: dict[str, str]
) -> None:
    folder = tmp_path / "recipe"
    folder.mkdir()
    for name, text in (files_in(COOKBOOK / "index.md") | files_in(recipe)).items():
        (folder / name).write_text(text)
    commands = list(commands_in(recipe))
    assert commands, "a recipe shows a command"
    for command, shown in commands:
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=kitchen, capture_output=True, text=True, check=False
        )
        missing = first_missing(shown, [line.rstrip() for line in (done.stdout + done.stderr).splitlines()])
        assert missing is None, f"not printed by {command}: {missing}\n{done.stdout}{done.stderr}"


def first_missing(shown: list[str], printed: list[str]) -> str | None:
    """The first lines of a page that the output does not have; an ellipsis stands for any lines."""
    text = "\n".join(("", *printed, ""))
    parts = "\n".join(line.rstrip() for line in shown).split(ELLIPSIS)
    start = 0
    for number, part in enumerate(parts):
        lines = part.strip("\n")
        if not lines:
            continue
        place = text.find(f"\n{lines}\n", start)
        if place < 0 or (number == 0 and place > 0):
            return lines
        start = place + len(lines) + 1
    return None


def test_a_line_that_is_not_printed_is_noticed() -> None:
    printed = ["a", "b", "c", "d"]
    assert first_missing(["a", "b"], printed) is None
    assert first_missing(["a", "…", "d"], printed) is None
    assert first_missing(["…", "b", "c"], printed) is None
    assert first_missing(["a", "c"], printed) == "a\nc"
    assert first_missing(["b"], printed) == "b"
    assert first_missing(["…", "d", "…", "a"], printed) == "a"


def test_a_recipe_with_functions_links_to_their_file() -> None:
    """Somebody who comes from a search has not seen the index."""
    needing = [recipe for recipe in RECIPES if "functionRef" in recipe.read_text()]
    assert len(needing) >= 20
    link = "(index.md#the-functions)"
    assert [recipe.name for recipe in needing if link not in recipe.read_text()] == []


def test_the_index_lists_every_recipe() -> None:
    index = (COOKBOOK / "index.md").read_text()
    assert [recipe.name for recipe in RECIPES if f"({recipe.name})" not in index] == []
    assert len(RECIPES) >= 20
