"""Compiled definitions by name that refer to each other, each compiled when it is first used.

A definition may refer to itself. So it is created empty, and filled with those that it refers to. Whoever
used an incomplete one would lose what it does not have yet, such as fields of an object. So only the thread
that compiles it gets it. Two threads may compile the same definition; either result is as good.
"""

from __future__ import annotations

from _thread import _local
from collections.abc import Callable
from typing import Any, Generic, TypeVar

D = TypeVar("D")


class _Incomplete(_local):
    """What the current thread compiles, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, Any] = {}


class DefinitionCache(Generic[D]):
    """Compiled definitions; may be used by several threads."""

    __slots__ = ("_complete", "_create", "_fill", "_incomplete")

    def __init__(self, create: Callable[[str], D], fill: Callable[[D, str], None]) -> None:
        """`fill` gets the definitions that it refers to by `get`."""
        self._complete: dict[str, D] = {}
        self._incomplete = _Incomplete()
        self._create = create
        self._fill = fill

    def get(self, name: str) -> D:
        known = self._complete.get(name)
        return self._compiled(name) if known is None else known

    def _compiled(self, name: str) -> D:
        incomplete = self._incomplete.by_name
        if name in incomplete:
            known: D = incomplete[name]
            return known
        is_outermost = not incomplete
        definition = incomplete[name] = self._create(name)
        try:
            self._fill(definition, name)
            if is_outermost:
                self._complete.update(incomplete)
        finally:
            if is_outermost:
                incomplete.clear()
        return definition
