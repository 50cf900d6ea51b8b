"""Colours and symbols: on terminals only, as the user decides, and never the only sign."""

from __future__ import annotations

import io
import re

import pytest

from crossply.cli.framework.layout import branches, columns, crop, width
from crossply.cli.framework.styling import ALWAYS, AUTO, NEVER, PLAIN, Style, style_of


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


GREEN = "\x1b[32m✓ Ready\x1b[0m"


@pytest.mark.parametrize(
    ("stream", "environ", "color", "shown", "reason"),
    [
        (Tty(), {"TERM": "xterm"}, AUTO, GREEN, "a terminal"),
        (io.StringIO(), {}, AUTO, "✓ Ready", "a pipe"),
        (Tty(), {"NO_COLOR": "1"}, AUTO, "✓ Ready", "no-color.org"),
        (Tty(), {"NO_COLOR": ""}, AUTO, GREEN, "an empty NO_COLOR is none"),
        (Tty(), {"TERM": "dumb"}, AUTO, "+ Ready", "a terminal without colours and symbols"),
        (io.StringIO(), {"FORCE_COLOR": "1"}, AUTO, GREEN, "a CI system whose logs show colours"),
        (Tty(), {"FORCE_COLOR": "0"}, AUTO, "✓ Ready", "the other use of the variable"),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, AUTO, "✓ Ready", "NO_COLOR is stronger"),
        (io.StringIO(), {"NO_COLOR": "1"}, ALWAYS, GREEN, "a flag is stronger than variables"),
        (Tty(), {"FORCE_COLOR": "1"}, NEVER, "✓ Ready", "a flag is stronger than variables"),
        (Tty(), {"LANG": "de_DE.ISO-8859-1"}, NEVER, "+ Ready", "a terminal that has no such sign"),
        (Tty(), {"LANG": "C", "LC_ALL": "C.UTF-8"}, NEVER, "✓ Ready", "LC_ALL is stronger than LANG"),
    ],
)
def test_flags_and_environment_decide_about_colours(stream, environ, color, shown, reason) -> None:
    assert style_of(stream, environ, color).good("✓ Ready") == shown, reason


def test_every_status_has_a_symbol_besides_its_colour() -> None:
    style = Style(colored=False, decorated=True)
    assert [style.status(word) for word in ("True", "False", "Unknown", "-")] == [
        "✓ True",
        "✗ False",
        "○ Unknown",
        "-",
    ]
    assert PLAIN.status("True") == "True", "what programs read stays as it was"


def test_columns_are_aligned_by_visible_width() -> None:
    style = Style(colored=True, decorated=True)
    lines = columns(
        [["NAME", "READY", "WHY"], [style.bold("港"), style.bad("✗ False"), "x"], ["long name", "-"]]
    )
    visible_lines = [re.sub("\x1b\\[[0-9]*m", "", line) for line in lines]
    assert visible_lines == ["NAME        READY     WHY", "港          ✗ False   x", "long name   -"]
    assert width(lines[1]) == width("港") + 10 + 10 + 1


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("\x1b[31mlonger\x1b[0m", 5, "\x1b[31mlong…\x1b[0m"),
        ("\x1b[31mshort\x1b[0m", 5, "\x1b[31mshort\x1b[0m"),
        ("港港港", 4, "港…"),
    ],
)
def test_cropping_counts_columns_and_ends_colours(text: str, most: int, shown: str) -> None:
    assert crop(text, most) == shown


def test_branches_lead_to_every_node() -> None:
    tree = {"a": ["b", "c"], "b": ["d"], "c": ["e"]}
    lines = [lead + node for lead, node in branches("a", lambda node: tree.get(node, []))]
    assert lines == ["a", "├─ b", "│  └─ d", "└─ c", "   └─ e"]
