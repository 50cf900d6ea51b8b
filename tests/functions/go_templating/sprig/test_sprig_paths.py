"""Sprig's path functions. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import rendered

ANSWERS = [
    ('{{ base "/a/b/" }}', "b", "the last element"),
    ('{{ base "" }}', ".", "the last element"),
    ('{{ base "///" }}', "/", "the last element"),
    ('{{ base "a" }}', "a", "the last element"),
    ('{{ osBase "/x/y" }}', "y", "the last element"),
    ('{{ dir "/a/b" }}', "/a", "the rest, cleaned"),
    ('{{ dir "a" }}', ".", "the rest, cleaned"),
    ('{{ dir "/a//b/" }}', "/a/b", "the rest, cleaned"),
    ('{{ dir "" }}', ".", "the rest, cleaned"),
    ('{{ osDir "/x/y" }}', "/x", "the rest, cleaned"),
    ('{{ clean "/a/b/../c" }}', "/a/c", "shortest"),
    ('{{ clean "/../a" }}', "/a", "shortest"),
    ('{{ clean "../a/.." }}', "..", "shortest"),
    ('{{ clean "a/./b//" }}', "a/b", "shortest"),
    ('{{ clean "" }}', ".", "shortest"),
    ('{{ osClean "./x" }}', "x", "shortest"),
    ('{{ ext "a.tar.gz" }}', ".gz", "from the last point"),
    ('{{ ext "a/b.c/d" }}', "", "from the last point"),
    ('{{ ext ".x" }}', ".x", "from the last point"),
    ('{{ ext "a." }}', ".", "from the last point"),
    ('{{ osExt "f.go" }}', ".go", "from the last point"),
    ('{{ isAbs "/a" }}', "true", "begins at the root"),
    ('{{ isAbs "a" }}', "false", "begins at the root"),
    ('{{ osIsAbs "/" }}', "true", "begins at the root"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason
