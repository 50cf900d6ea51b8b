"""Every command of the tutorial runs as printed, and prints the output on the page."""

from __future__ import annotations

import pathlib

import pytest

from tests.support.docs.markdown_session import Reader
from tests.support.programs import require

DOCS = pathlib.Path(__file__).parents[2] / "docs"


def test_the_first_composition_works_as_printed(tmp_path: pathlib.Path) -> None:
    Reader(tmp_path).run_page(DOCS / "tutorial" / "first-composition.md", at_least=5)


def test_a_platform_in_an_hour_works_as_printed(tmp_path: pathlib.Path) -> None:
    require("kubectl")
    reader = Reader(tmp_path)
    try:
        reader.run_page(DOCS / "tutorial" / "platform-in-an-hour.md", at_least=20)
    finally:
        reader.run("crossply down")


@pytest.mark.parametrize("tool", ["kro", "terraform"])
def test_the_steps_from_another_tool_work_as_printed(tmp_path: pathlib.Path, tool: str) -> None:
    Reader(tmp_path).run_page(DOCS / "coming-from" / f"{tool}.md", at_least=1)


def test_the_suite_of_the_page_on_tests_prints_the_shown_output(tmp_path: pathlib.Path) -> None:
    Reader(tmp_path).run_page(DOCS / "how-to" / "test-compositions.md", at_least=1)
