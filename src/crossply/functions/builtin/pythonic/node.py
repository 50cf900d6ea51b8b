"""What every place of the tree has: a parent, a key, and so a name.

Attributes of most nodes are data of users, so nodes have no public attributes, and their own ones are set
with `put`.
"""

from __future__ import annotations

import sys
from typing import Any, Final

put = object.__setattr__
"""Sets an attribute of a node itself; `node.name = value` writes data."""

append: Final = sys.maxsize
"""The index behind the last item of a list."""


class _Absent:
    """The type of ABSENT."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<<UNKNOWN>>"


ABSENT: Final = _Absent()
"""The content of a node that stands for something that does not exist."""

UNKNOWN_TEXT: Final = "<<UNKNOWN>>"


class Node:
    """A place in the tree of a request, a response or a value that a program builds."""

    __slots__ = ("_key", "_parent", "_read_only")

    _key: str | int | None
    _parent: Node | None
    _read_only: str
    """What is read-only, for the error; empty where the program may write."""

    def _fullName(self, key: str | int | None = None) -> str:
        """The path of this node, or of a child, such as `request.observed.composite`."""
        if self._key is None:
            return "" if key is None else str(key)
        name = str(self._key) if self._parent is None else self._parent._fullName(self._key)
        return name if key is None else name + self._suffix(key)

    def _suffix(self, key: str | int) -> str:
        """How the key of a child is added to the path of this node."""
        if isinstance(key, int) or "." in key:
            return f"[{key}]"
        return f".{key}"

    def _attach(self, key: str | int, child: Node) -> None:
        """Make a child that was missing exist, and this node too."""
        raise NotImplementedError

    def _check_writable(self) -> None:
        if self._read_only:
            raise ValueError(f"{self._read_only} is read only")


def start(node: Node, parent: Node | None, key: str | int | None, read_only: str) -> None:
    put(node, "_parent", parent)
    put(node, "_key", key)
    put(node, "_read_only", read_only)


def path(node: Any) -> tuple[str | int, ...]:
    """The keys from the root to a node; the root's own key comes first."""
    keys: list[str | int] = []
    while node is not None and node._key is not None:
        keys.append(node._key)
        node = node._parent
    return tuple(reversed(keys))
