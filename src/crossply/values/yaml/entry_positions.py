"""The positions of a document's entries and scalars, for placing comments."""

from __future__ import annotations

from typing import Any, NamedTuple

from yaml._yaml import CParser
from yaml.error import YAMLError
from yaml.events import (
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from crossply.values.yaml.limits import MAX_DEPTH

Path = tuple[str | int, ...]

_TO_THE_END = 1 << 30


class Entry(NamedTuple):
    """A key with its value, or an item of a list: the line it begins on and the path of it."""

    line: int
    path: Path
    flow: Path | None
    """The entry whose brackets it stands in, if it does."""


class Layout:
    """The first document of a text: its entries in order, and the columns that its scalars take."""

    __slots__ = ("entries", "last_line", "scalars")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.scalars: dict[int, list[tuple[int, int]]] = {}
        self.last_line = 0

    def is_text(self, line: int, column: int) -> bool:
        """Whether a place lies in a scalar."""
        return any(start <= column < end for start, end in self.scalars.get(line, ()))

    def cover(self, event: Any) -> None:
        """Note the columns of a scalar. The first line of a block may end in a comment: it is its header."""
        start, end = event.start_mark, event.end_mark
        is_block = event.style in ("|", ">")
        for line in range(start.line + is_block, end.line + 1):
            first = start.column if line == start.line else 0
            last = end.column if line == end.line else _TO_THE_END
            self.scalars.setdefault(line, []).append((first, last))


class _Open:
    """A list or map that has begun: whose value it is, and what comes next in it."""

    __slots__ = ("flow", "is_map", "key", "path", "position")

    def __init__(self, path: Path, is_map: bool, flow: Path | None) -> None:
        self.path = path
        self.is_map = is_map
        self.flow = flow
        self.key: str | None = None
        self.position = 0


def layout_of(data: bytes) -> Layout | None:
    """The layout of the first document; None for one that is too unusual to be laid out."""
    try:
        return _lay_out(CParser(data))
    except YAMLError:
        return None


def _lay_out(parser: Any) -> Layout | None:
    layout = Layout()
    open_nodes: list[_Open] = []
    parser.get_event()
    while (event := parser.get_event()) is not None:
        if type(event) is DocumentEndEvent:
            layout.last_line = _line(event)
            return layout
        if isinstance(event, CollectionEndEvent):
            open_nodes.pop()
        elif isinstance(event, NodeEvent) and not _enter(event, open_nodes, layout):
            return None
    return None


def _enter(event: Any, open_nodes: list[_Open], layout: Layout) -> bool:
    """Add one node; false for a key that is no scalar, and for what is nested too deeply."""
    if len(open_nodes) > MAX_DEPTH:
        return False
    if type(event) is ScalarEvent:
        layout.cover(event)
    parent = open_nodes[-1] if open_nodes else None
    if parent is not None and parent.is_map and parent.key is None:
        if type(event) is not ScalarEvent:
            return False
        parent.key = event.value
        layout.entries.append(Entry(_line(event), (*parent.path, event.value), parent.flow))
        return True
    path = _path_in(parent, event, layout)
    if isinstance(event, CollectionStartEvent):
        inherited = parent.flow if parent is not None else None
        flow = inherited if inherited is not None else (path if event.flow_style else None)
        open_nodes.append(_Open(path, isinstance(event, MappingStartEvent), flow))
    return True


def _path_in(parent: _Open | None, event: Any, layout: Layout) -> Path:
    if parent is None:
        return ()
    if parent.is_map:
        path = (*parent.path, parent.key or "")
        parent.key = None
        return path
    path = (*parent.path, parent.position)
    parent.position += 1
    layout.entries.append(Entry(_line(event), path, parent.flow))
    return path


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line
