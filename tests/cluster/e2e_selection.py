"""Which of the thousands of end-to-end tests of Kubernetes are run: those that e2e-tests.txt names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

RUN, LEAVE_OUT, NOTE = "", "!", "~"


class Line(NamedTuple):
    """The line of the list for the tests whose names begin so."""

    sign: str
    start: str
    reason: str


class Selection(NamedTuple):
    """The tests to run, and those of the same kind that are left out, each with the line that decides."""

    chosen: dict[str, Line]
    left_out: dict[str, Line]


def read_lines(text: str) -> list[Line]:
    """The lines of the list, without its comments."""
    return [_line(row) for row in text.splitlines() if row and not row.startswith("#")]


def _line(row: str) -> Line:
    sign = row[0] if row[0] in (LEAVE_OUT, NOTE) else RUN
    start, mark, reason = row[len(sign) :].strip().partition(" # ")
    if not mark or not reason:
        raise ValueError(f"no reason is given after ' # ' in: {row}")
    return Line(sign, start, reason)


def choose(lines: Sequence[Line], names: Iterable[str]) -> Selection:
    """Let the longest line that fits decide about each test."""
    deciding = [line for line in lines if line.sign != NOTE]
    selection = Selection({}, {})
    for name in sorted(names):
        line = longest(deciding, name)
        if line is not None:
            (selection.left_out if line.sign else selection.chosen)[name] = line
    return selection


def longest(lines: Iterable[Line], name: str) -> Line | None:
    """The most specific line for a test."""
    fitting = (line for line in lines if name.startswith(line.start))
    return max(fitting, key=lambda line: len(line.start), default=None)


def unused(lines: Sequence[Line], names: Sequence[str]) -> list[Line]:
    """Lines that fit no test, because it was renamed or is gone."""
    return [line for line in lines if not any(name.startswith(line.start) for name in names)]


def focus(names: Iterable[str]) -> str:
    """The flag that makes Ginkgo, which puts the suite's name first, run exactly these tests."""
    return " (" + "|".join(map(_quoted, sorted(names))) + ")$"


def _quoted(name: str) -> str:
    """The name escaped for Go's regular expressions, which have fewer escapes than Python's."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", name)
