"""Every command of the tutorial runs as it is printed, and says what the page says."""

from __future__ import annotations

import pathlib

from tests.support.docs.markdown_session import Reader

DOCS = pathlib.Path(__file__).parents[2] / "docs"


def test_the_first_composition_works_as_printed(tmp_path: pathlib.Path) -> None:
    Reader(tmp_path).follow(DOCS / "tutorial" / "first-composition.md", at_least=5)


def test_the_suite_of_the_page_on_tests_says_what_is_printed(tmp_path: pathlib.Path) -> None:
    Reader(tmp_path).follow(DOCS / "how-to" / "test-compositions.md", at_least=1)
