"""The choice of end-to-end tests, and the page about them."""

from __future__ import annotations

import re

import pytest

from tests.cluster.e2e import LIST, PAGE
from tests.cluster.e2e_page import read_page, write_page
from tests.cluster.e2e_selection import LEAVE_OUT, NOTE, RUN, Line, choose, focus, read_lines, unused

LINES = read_lines(
    """\
# a comment
[x] Watches # they fit
! [x] Watches of Pods # a Pod is needed
[x] Watches of Pods without nodes # this one fits again
~ [x] Watches of [y] # fails | on purpose
"""
)
NAMES = [
    "[x] Watches of [y] (twice)",
    "[x] Watches of Pods run",
    "[x] Watches of Pods without nodes",
    "[z] Other",
]


def test_the_longest_line_decides() -> None:
    selection = choose(LINES, NAMES)
    assert list(selection.chosen) == ["[x] Watches of Pods without nodes", "[x] Watches of [y] (twice)"]
    assert {name: line.reason for name, line in selection.left_out.items()} == {
        "[x] Watches of Pods run": "a Pod is needed"
    }


def test_lines_that_match_nothing_are_reported() -> None:
    assert unused([*LINES, Line(RUN, "[gone]", "why")], NAMES) == [Line(RUN, "[gone]", "why")]


def test_a_line_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="no reason"):
        read_lines("[x] Watches")


def test_the_focus_fits_the_chosen_tests_and_no_longer_ones() -> None:
    pattern = focus(["[x] a (b)", "[x] c."])
    assert re.search(pattern, "Suite [x] a (b)")
    assert not re.search(pattern, "Suite [x] a (b) and more")
    assert not re.search(pattern, "Suite [x] cd")


def test_a_page_preserves_the_results_of_the_other_server() -> None:
    selection = choose(LINES, NAMES)
    passed, failed = selection.chosen
    first = write_page(selection, LINES, {}, "real", {passed: "passed", failed: "passed"}, "v1")
    page = write_page(
        selection, LINES, read_page(first), "embedded", {passed: "passed", failed: "failed"}, "v1"
    )
    assert "* real: 2 of 2 pass\n* embedded: 1 of 2 pass\n" in page
    assert f"| `{failed}` | passed | failed | fails \\| on purpose |" in page
    assert "| `[x] Watches of Pods` | 1 | a Pod is needed |" in page
    assert read_page(page)[failed].results == {"real": "passed", "embedded": "failed"}
    later = write_page(selection, LINES, read_page(page), "embedded", {failed: "passed"}, "v1")
    assert "* embedded: 2 of 2 pass\n" in later, "tests that were not run again stay as they were"


def test_the_list_can_be_read_and_the_page_is_about_it() -> None:
    with open(LIST, encoding="utf-8") as file:
        lines = read_lines(file.read())
    assert {line.sign for line in lines} == {RUN, LEAVE_OUT, NOTE}
    assert len({line.start for line in lines if line.sign != NOTE}) == len(
        [x for x in lines if x.sign != NOTE]
    )
    with open(PAGE, encoding="utf-8") as file:
        published = read_page(file.read())
    assert list(choose(lines, published).chosen) == sorted(published), "run: make test-e2e"
