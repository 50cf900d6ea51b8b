"""Where the fields of a YAML document stand in its text."""

from __future__ import annotations

from typing import Any, NamedTuple

from yaml._yaml import CParser
from yaml.error import YAMLError
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from crossply.functions.field_provenance import Path
from crossply.values.yaml.limits import MAX_DEPTH


class Entry(NamedTuple):
    """A field: a key and its value, or an item of a list.

    `start` is where its key or its dash stands, in column `column`; `value` where the value starts; `end`
    where the lines end that it is on, with everything below it.
    """

    path: Path
    parent: int | None
    """The index of the field around it."""
    start: int
    column: int
    value: int
    end: int
    is_item: bool
    is_leaf: bool
    is_flow: bool
    """Whether it is within brackets or braces."""


class _Open:
    """A collection that is being read."""

    __slots__ = ("entry", "flow", "is_map", "key", "path", "position")

    def __init__(self, path: Path, entry: int | None, is_map: bool, flow: bool) -> None:
        self.path = path
        self.entry = entry
        self.is_map = is_map
        self.flow = flow
        self.key: Any = None
        self.position = 0


def entries_of(text: str) -> list[Entry] | None:
    """All fields of a document in the order of the text; None for one that is too unusual."""
    try:
        return _Reader(text).read()
    except (YAMLError, UnicodeError):
        return None


class _Reader:
    """Reads one document."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._entries: list[Entry] = []
        self._open: list[_Open] = []

    def read(self) -> list[Entry] | None:
        parser: Any = CParser(self._text)
        while (event := parser.get_event()) is not None:
            if type(event) is DocumentEndEvent:
                return self._entries
            if isinstance(event, CollectionEndEvent):
                self._close(event)
            elif isinstance(event, NodeEvent) and not self._enter(event):
                return None
        return None

    def _enter(self, event: Any) -> bool:
        """Add one node; False for aliases, merged maps, keys that are no scalars, and deep nesting."""
        if type(event) is AliasEvent or len(self._open) > MAX_DEPTH:
            return False
        parent = self._open[-1] if self._open else None
        if parent is not None and parent.is_map and parent.key is None:
            parent.key = event
            return type(event) is ScalarEvent and event.value != "<<"
        index = self._add(parent, event)
        path = () if index is None else self._entries[index].path
        if isinstance(event, MappingStartEvent | SequenceStartEvent):
            flow = bool(event.flow_style) or (parent is not None and parent.flow)
            self._open.append(_Open(path, index, isinstance(event, MappingStartEvent), flow))
        return True

    def _add(self, parent: _Open | None, event: Any) -> int | None:
        if parent is None:
            return None
        value = event.start_mark.index
        if parent.is_map:
            mark = parent.key.start_mark
            path, start, column = (*parent.path, parent.key.value), mark.index, mark.column
            parent.key = None
        else:
            path = (*parent.path, parent.position)
            parent.position += 1
            start = value if parent.flow else max(self._text.rfind("-", 0, value), 0)
            column = start - (self._text.rfind("\n", 0, start) + 1)
        entry = Entry(
            path,
            parent.entry,
            start,
            column,
            value,
            self._line_end(event.end_mark.index),
            is_item=not parent.is_map,
            is_leaf=type(event) is ScalarEvent,
            is_flow=parent.flow or bool(getattr(event, "flow_style", False)),
        )
        self._entries.append(entry)
        return len(self._entries) - 1

    def _close(self, event: Any) -> None:
        closed = self._open.pop()
        if closed.entry is None:
            return
        entry = self._entries[closed.entry]
        is_empty = len(self._entries) - 1 == closed.entry
        end = self._line_end(event.end_mark.index)
        self._entries[closed.entry] = entry._replace(end=max(end, entry.end), is_leaf=is_empty)

    def _line_end(self, index: int) -> int:
        """The end of the line; a block scalar ends at the start of the next one."""
        if index > 0 and self._text[index - 1] == "\n":
            return index
        end = self._text.find("\n", index)
        return len(self._text) if end < 0 else end
