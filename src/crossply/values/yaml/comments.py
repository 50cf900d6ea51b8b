"""Preserve comments when a document is rewritten.

A comment belongs to the entry beside it or below it. `dump` does not know comments; they are inserted between
its lines, and the result is parsed again: a comment must never change the value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.values.deepcopy import equal
from crossply.values.yaml.emit import dump
from crossply.values.yaml.entry_positions import Entry, Layout, Path, layout_of
from crossply.values.yaml.errors import YamlError
from crossply.values.yaml.stream import load


class Comment(NamedTuple):
    """One line of comment, and the entry it belongs to."""

    path: Path
    text: str
    beside: bool = False


END: Path = ("",) * 3
"""The path of what stands after the last entry; no entry of a real document is called so."""


def read_comments(data: bytes) -> list[Comment]:
    """The comments of a text's first document, in their order."""
    if b"#" not in data:
        return []
    layout = layout_of(data)
    if layout is None:
        return []
    lines = data.decode("utf-8", "replace").splitlines()[: layout.last_line + 1]
    return _attached(lines, layout)


def _attached(lines: list[str], layout: Layout) -> list[Comment]:
    starts: dict[int, list[Entry]] = {}
    for entry in layout.entries:
        starts.setdefault(entry.line, []).append(entry)
    comments: list[Comment] = []
    waiting: list[str] = []
    latest: Path = ()
    for number, line in enumerate(lines):
        here = starts.get(number, [])
        if here:
            # What stands above everything is about the whole document, whatever its first key is.
            below = () if here[0] is layout.entries[0] else here[0].path
            comments += [Comment(below, text) for text in waiting]
            waiting = []
            latest = _owner(here)
        column = _comment_in(line, number, layout)
        if column is None:
            continue
        text = line[column:].rstrip()
        if here:
            comments.append(Comment(latest, text, beside=True))
        elif line[:column].strip() and latest:
            comments.append(Comment(latest, text))
        else:
            waiting.append(text)
    return comments + [Comment(END, text) for text in waiting]


def _owner(entries: list[Entry]) -> Path:
    """Whose a comment at the end of a line is: the last entry's, or of the one that brackets began with."""
    last = entries[-1]
    if last.flow is not None and any(entry.path == last.flow for entry in entries):
        return last.flow
    return last.path


def _comment_in(line: str, number: int, layout: Layout) -> int | None:
    column = line.find("#")
    while column >= 0:
        if (column == 0 or line[column - 1] in " \t") and not layout.is_text(number, column):
            return column
        column = line.find("#", column + 1)
    return None


def moved(comments: Iterable[Comment], moves: Iterable[tuple[Path, Path]]) -> list[Comment]:
    """The comments where their entries are, after what was below one path is below another."""
    new_places = dict(moves)
    return [comment._replace(path=_new_path(comment.path, new_places)) for comment in comments]


def _new_path(path: Path, new_places: dict[Path, Path]) -> Path:
    """The path after the move that is closest to it."""
    for length in range(len(path), 0, -1):
        if path[:length] in new_places:
            return (*new_places[path[:length]], *path[length:])
    return path


def dump_with(value: Any, comments: list[Comment]) -> str:
    """The text of a value, with comments at the entries they belong to.

    A comment whose entry was removed moves above the entry's parent.
    """
    text = dump(value)
    if not comments:
        return text
    for candidates in (comments, [comment._replace(beside=False) for comment in comments]):
        annotated = _annotated(text, candidates)
        if annotated is not None and _means(annotated, text):
            return annotated
    return text


def _annotated(text: str, comments: list[Comment]) -> str | None:
    layout = layout_of(text.encode())
    if layout is None:
        return None
    lines = text.splitlines()
    places = {entry.path: entry.line for entry in layout.entries}
    above: dict[int, list[str]] = {}
    ends: dict[int, str] = {}
    for path, comment, beside in comments:
        place = len(lines) if path == END else _place(path, places)
        if beside and path in places and place not in ends:
            ends[place] = f" {comment}"
        else:
            above.setdefault(place, []).append(comment)
    return _woven(lines, above, ends)


def _woven(lines: list[str], above: dict[int, list[str]], ends: dict[int, str]) -> str:
    written: list[str] = []
    for number, line in enumerate(lines):
        indent = line[: len(line) - len(line.lstrip(" "))]
        written += [indent + comment for comment in above.get(number, ())]
        written.append(line + ends.get(number, ""))
    return "\n".join([*written, *above.get(len(lines), ())]) + "\n"


def _place(path: Path, places: dict[Path, int]) -> int:
    while path and path not in places:
        path = path[:-1]
    return places[path] if path else 0


def _means(annotated: str, text: str) -> bool:
    try:
        return equal(load(annotated), load(text))
    except YamlError:
        return False
