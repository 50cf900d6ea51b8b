"""Change one item of a list in a YAML text and leave every other line as it is.

The new text is parsed again before it is returned. If it does not have the expected value, because the list
is in flow style or otherwise unusual, the whole document is rewritten, with its comments.
"""

from __future__ import annotations

from typing import Any

from crossply.values.deepcopy import equal
from crossply.values.yaml.comments import Comment, dump_with, moved, read_comments
from crossply.values.yaml.emit import dump
from crossply.values.yaml.entry_positions import Layout, Path, layout_of
from crossply.values.yaml.errors import YamlError
from crossply.values.yaml.stream import load, start_of_content


def item_inserted(data: bytes, value: Any, path: Path, index: int) -> str:
    """The text of `value`: `data` with a further item at `index` of the list at `path`."""
    above, data = _cut(data)
    items = _at(value, path)
    text = _edited(data, value, lambda lines, layout: _insert(lines, layout, path, index, items[index]))
    if text is not None:
        return above + text
    shifts = [((*path, place - 1), (*path, place)) for place in range(index + 1, len(items))]
    return above + dump_with(value, moved(read_comments(data), shifts))


def item_replaced(data: bytes, value: Any, path: Path, index: int) -> str:
    """The text of `value`: `data` with another item at `index` of the list at `path`."""
    above, data = _cut(data)
    comments = read_comments(data)
    item = (*path, index)
    within = [
        Comment((0, *comment.path[len(item) :]), comment.text, comment.beside)
        for comment in comments
        if comment.path[: len(item)] == item and len(comment.path) > len(item)
    ]
    new = dump_with([_at(value, item)], within)
    text = _edited(data, value, lambda lines, layout: _replace(lines, layout, item, new))
    return above + (text if text is not None else dump_with(value, comments))


def _cut(data: bytes) -> tuple[str, bytes]:
    """The blank documents above the one to edit, and the rest."""
    start = start_of_content(data)
    return data[:start].decode("utf-8", "replace"), data[start:]


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _edited(data: bytes, value: Any, edit: Any) -> str | None:
    """The edited text, if it can be edited and means what it should."""
    layout = layout_of(data)
    if layout is None:
        return None
    lines = edit(data.decode("utf-8", "replace").splitlines(), layout)
    if lines is None:
        return None
    text = "\n".join(lines) + "\n"
    try:
        return text if equal(load(text), value) else None
    except YamlError:
        return None


def _insert(lines: list[str], layout: Layout, path: Path, index: int, item: Any) -> list[str] | None:
    places = {entry.path: entry.line for entry in layout.entries}
    if path not in places:
        return _insert_key(lines, layout, places, path, item)
    first = places.get((*path, 0))
    if first is None:
        return None
    line = places[path] + 1 if index == 0 else _end(lines, layout, path)
    return [*lines[:line], *_indented(dump([item]), _indent(lines[first])), *lines[line:]]


def _insert_key(
    lines: list[str], layout: Layout, places: dict[Path, int], path: Path, item: Any
) -> list[str] | None:
    """A list that is not there yet comes last in the map it is of."""
    beside = [place for place in places if len(place) == len(path) and place[:-1] == path[:-1]]
    if not beside:
        return None
    line = _end(lines, layout, path[:-1])
    return [
        *lines[:line],
        *_indented(dump({path[-1]: [item]}), _indent(lines[places[beside[0]]])),
        *lines[line:],
    ]


def _replace(lines: list[str], layout: Layout, item: Path, new: str) -> list[str] | None:
    start = next((entry.line for entry in layout.entries if entry.path == item), None)
    if start is None:
        return None
    return [*lines[:start], *_indented(new, _indent(lines[start])), *lines[_end(lines, layout, item) :]]


def _end(lines: list[str], layout: Layout, path: Path) -> int:
    """The line after an entry and all within it; comments below it belong to what follows."""
    inside = [place for place, entry in enumerate(layout.entries) if entry.path[: len(path)] == path]
    later = layout.entries[inside[-1] + 1 :] if inside else []
    end = later[0].line if later else _last(lines, layout)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _last(lines: list[str], layout: Layout) -> int:
    return min(layout.last_line, len(lines)) or len(lines)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _indented(text: str, indent: str) -> list[str]:
    return [indent + line for line in text.splitlines()]
