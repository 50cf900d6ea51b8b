"""Columns, trees and cropping for styled texts: escape sequences take no room on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Node = TypeVar("Node")
_ESCAPE = "\x1b"
_RESET = "\x1b[0m"


def width(text: str) -> int:
    """The columns that a text takes on a terminal."""
    if _ESCAPE in text:
        text = "".join(part for part, is_escape in pieces(text) if not is_escape)
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a styled text, each with whether it is an escape sequence (`ESC [ … letter`)."""
    start = 0
    while start < len(text):
        if text[start] != _ESCAPE:
            end = text.find(_ESCAPE, start)
            end = len(text) if end < 0 else end
            yield text[start:end], False
        else:
            end = start + 2
            while end < len(text) and not text[end].isalpha():
                end += 1
            end += 1
            yield text[start:end], True
        start = end


def columns(rows: Sequence[Sequence[str]], gap: int = 3) -> list[str]:
    """The rows as lines with aligned columns; rows may differ in length."""
    widths: list[int] = []
    for row in rows:
        for column, cell in enumerate(row[:-1]):
            if column == len(widths):
                widths.append(0)
            widths[column] = max(widths[column], width(cell))
    return [_line(row, widths, gap) for row in rows]


def _line(row: Sequence[str], widths: Sequence[int], gap: int) -> str:
    padded = [cell + " " * (widths[column] - width(cell) + gap) for column, cell in enumerate(row[:-1])]
    return ("".join(padded) + "".join(row[-1:])).rstrip(" ")


def crop(text: str, most: int) -> str:
    """A line cut to a number of columns, ending in `…` where it was longer; escape sequences are kept."""
    if width(text) <= most:
        return text
    room, parts = max(most - 1, 0), []
    for part, is_escape in pieces(text):
        if is_escape:
            parts.append(part)
            continue
        for char in part:
            room -= width(char)
            if room < 0:
                break
            parts.append(char)
        if room <= 0:
            parts.append("…")
            break
    return "".join(parts) + (_RESET if _ESCAPE in text else "")


def wrap(text: str, most: int) -> list[str]:
    """A line as rows of a terminal, each with its own colours."""
    if width(text) <= most:
        return [text]
    rows, row, room, color = [], "", most, ""
    for part, is_escape in pieces(text):
        if is_escape:
            row, color = row + part, "" if part == _RESET else part
            continue
        for char in part:
            if width(char) > room:
                rows.append(row + (_RESET if color else ""))
                row, room = color, most
            row, room = row + char, room - width(char)
    return [*rows, row]


def branches(
    root: Node, children: Callable[[Node], Sequence[Node]], lead: str = ""
) -> Iterator[tuple[str, Node]]:
    """Every node of a tree with the lines that lead to it: `├─ `, `└─ ` and what continues above."""
    yield lead, root
    yield from _below(root, children, lead)


def _below(node: Node, children: Callable[[Node], Sequence[Node]], lead: str) -> Iterator[tuple[str, Node]]:
    below = children(node)
    for number, child in enumerate(below, 1):
        last = number == len(below)
        yield f"{lead}{'└─ ' if last else '├─ '}", child
        yield from _below(child, children, lead + ("   " if last else "│  "))
