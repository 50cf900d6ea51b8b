"""The fields of one object with the trace of each, kept up to date while a function writes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from crossply.functions.field_provenance import CONDITION, VALUE, FieldTrace, FieldTraces, Path, SourceField
from crossply.values.deepcopy import equal


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The fields of a value that have none below them: scalars, nulls, empty maps and lists."""
    pending = [(path, value)]
    while pending:
        at, item = pending.pop()
        if isinstance(item, dict) and item:
            pending += [((*at, key), inner) for key, inner in item.items()]
        elif isinstance(item, list) and item:
            pending += [((*at, index), inner) for index, inner in enumerate(item)]
        else:
            yield at, item


def union(*groups: Iterable[SourceField]) -> tuple[SourceField, ...]:
    """All sources once, in the order in which they first appear; a value is a condition, too."""
    sources = dict.fromkeys(source for group in groups for source in group)
    values = {(source.object, source.path) for source in sources if source.use == VALUE}
    return tuple(s for s in sources if s.use == VALUE or (s.object, s.path) not in values)


def as_conditions(sources: Iterable[SourceField]) -> tuple[SourceField, ...]:
    """Sources that decide whether a field is there, or which one."""
    return tuple(s._replace(use=CONDITION) if s.use == VALUE else s for s in sources)


class TracedObject:
    """The traces of one object by the paths of its leaves."""

    __slots__ = ("_absent", "fields")

    def __init__(self) -> None:
        self.fields: FieldTraces = {}
        self._absent: dict[Path, tuple[SourceField, ...]] = {}
        """What could set fields that do not exist: an item that is missing moves those that are appended."""

    def write(self, path: Path, value: Any, trace_of: Callable[[Path], FieldTrace]) -> None:
        """Note that a value was written; `trace_of` gives the trace of a field below it by its full path."""
        self._drop(path)
        for leaf, _ in leaves(value, path):
            self.fields[leaf] = trace_of(leaf)

    def merge(self, path: Path, old: Any, value: Any, trace_of: Callable[[Path], FieldTrace]) -> None:
        """Note that a value is the result of merging into `old`: earlier sources stay sources."""
        before, old_leaves = dict(self.near(path)), dict(leaves(old, path))
        absent = dict(self._absent)
        self._drop(path)
        for leaf, merged in leaves(value, path):
            trace, near = trace_of(leaf), without_indexes(leaf)
            sources = [known.sources for at, known in before.items() if is_near(at, near)]
            sources += [fields for at, fields in absent.items() if is_near(at, near)]
            if leaf in before and leaf in old_leaves and equal(old_leaves[leaf], merged):
                trace, added = before[leaf], as_conditions(trace.sources)
                self.fields[leaf] = trace._replace(sources=union(trace.sources, *sources, added))
            else:
                self.fields[leaf] = trace._replace(sources=union(trace.sources, *sources))

    def add_sources(self, path: Path, sources: tuple[SourceField, ...]) -> None:
        """Name more sources for the fields at, below and above a path."""
        near = list(self.near(path))
        for at, trace in near:
            self.fields[at] = trace._replace(sources=union(trace.sources, sources))
        if not near:
            self._absent[path] = union(self._absent.get(path, ()), sources)

    def near(self, path: Path) -> Iterator[tuple[Path, FieldTrace]]:
        """The fields at a path, below it, and the one above it that has no own fields."""
        return ((at, trace) for at, trace in self.fields.items() if is_near(at, path))

    def sources_near(self, path: Path) -> list[tuple[SourceField, ...]]:
        """The sources of the fields near a path, and of those that could be there."""
        near = [trace.sources for _, trace in self.near(path)]
        return near + [sources for at, sources in self._absent.items() if is_near(at, path)]

    def _drop(self, path: Path) -> None:
        for at, _ in list(self.near(path)):
            del self.fields[at]
        self._absent = {at: sources for at, sources in self._absent.items() if not is_near(at, path)}


def is_near(one: Path, other: Path) -> bool:
    """Whether one path is the other, or leads to it."""
    length = min(len(one), len(other))
    return one[:length] == other[:length]


def without_indexes(path: Path) -> Path:
    """The path up to the first list: merging may move items."""
    first = next((index for index, segment in enumerate(path) if isinstance(segment, int)), len(path))
    return path[:first]
