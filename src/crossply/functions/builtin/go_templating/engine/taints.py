"""Which data each value of a traced render depends on.

A taint is a set of fields of the template's data. Scalars carry it with them. Containers are shared and may
be changed, so what is in one is known by its identity: a shadow for each map and list says which field of
the data it is, or what it was made from, and what was put into it since.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.functions.field_provenance import KEYS, VALUE, Path


class Atom(NamedTuple):
    """A field of the data; `use` is VALUE with everything below it, or KEYS for what is right below it."""

    path: Path
    use: str = VALUE


Taint = frozenset[Atom]
CLEAN: Taint = frozenset()


class Shadow:
    """What is known about one container."""

    __slots__ = ("changed", "children", "container", "own", "path")

    def __init__(self, container: Any, path: Path | None, own: Taint = CLEAN) -> None:
        self.container = container  # kept alive, so that its id is not used again
        self.path = path
        """The field of the data that it is; None for a container that the template made."""
        self.own = own
        """What everything in it depends on."""
        self.changed = CLEAN
        """What decided that items were put into it."""
        self.children: dict[Any, Taint] = {}
        """What single items depend on, for those that the template put into it."""


def is_container(value: Any) -> bool:
    return isinstance(value, dict | list)


class Shadows:
    """The containers of one render."""

    __slots__ = ("_known",)

    def __init__(self, data: Any) -> None:
        self._known: dict[int, Shadow] = {}
        pending: list[tuple[Path, Any]] = [((), data)]
        while pending:
            path, value = pending.pop()
            if is_container(value) and id(value) not in self._known:
                self._known[id(value)] = Shadow(value, path)
                pending += [((*path, key), item) for key, item in items_of(value)]

    def of(self, container: Any, reference: Taint) -> Shadow:
        """The shadow of a container; one that is new depends on what led to it."""
        shadow = self._known.get(id(container))
        if shadow is None:
            shadow = self._known[id(container)] = Shadow(container, None, reference)
        return shadow

    def add_container(self, container: Any, own: Taint, children: dict[Any, Taint]) -> None:
        """Note a container whose items are known one by one."""
        shadow = self._known[id(container)] = Shadow(container, None, own)
        shadow.children = children

    def is_known(self, value: Any) -> bool:
        return id(value) in self._known

    def item(self, container: Any, key: Any, reference: Taint) -> Taint:
        """What an item depends on, or its absence."""
        shadow = self.of(container, reference)
        taint = reference | shadow.own
        if key in shadow.children:
            return taint | shadow.children[key]
        if shadow.path is not None and not is_container(get(container, key)):
            taint |= {Atom((*shadow.path, key))}
        return taint

    def field(self, value: Any, names: tuple[Any, ...], taint: Taint) -> tuple[Any, Taint]:
        """The field at the end of a chain, and what it depends on."""
        for name in names:
            if not is_container(value):
                break
            taint, value = self.item(value, name, taint), get(value, name)
        return value, taint

    def keys(self, value: Any, taint: Taint) -> Taint:
        """What the emptiness, the length and the keys of a value depend on."""
        if not is_container(value):
            return taint
        shadow = self.of(value, taint)
        own = taint | shadow.own | shadow.changed
        return own if shadow.path is None else own | {Atom(shadow.path, KEYS)}

    def whole(self, value: Any, taint: Taint) -> Taint:
        """What a value with everything in it depends on."""
        result = set(taint)
        visited: set[int] = set()
        pending: list[tuple[Any, Taint, bool]] = [(value, taint, False)]
        while pending:
            container, reference, is_named = pending.pop()
            if not is_container(container) or id(container) in visited:
                continue
            visited.add(id(container))
            shadow = self.of(container, reference)
            result |= shadow.own
            for child in shadow.children.values():
                result |= child
            if shadow.path is not None and not is_named:
                result.add(Atom(shadow.path))
            is_named = shadow.path is not None
            pending += [(item, reference | shadow.own, is_named) for _, item in items_of(container)]
        return frozenset(result)

    def change(self, container: Any, taint: Taint) -> None:
        """Note that anything in a map may have been changed."""
        visited: set[int] = set()
        pending = [container]
        while pending:
            value = pending.pop()
            if isinstance(value, dict) and id(value) not in visited:
                visited.add(id(value))
                self.of(value, taint).own |= taint
                pending += value.values()


def items_of(container: Any) -> list[tuple[Any, Any]]:
    return list(container.items() if isinstance(container, dict) else enumerate(container))


def get(container: Any, key: Any) -> Any:
    """An item, or None."""
    if isinstance(container, dict):
        return container.get(key)
    if isinstance(container, list) and isinstance(key, int) and -len(container) <= key < len(container):
        return container[key]
    return None
