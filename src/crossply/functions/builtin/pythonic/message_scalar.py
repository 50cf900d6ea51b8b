"""One scalar of a message: a text, bytes or a number. It is read only; its message is what is written to."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.pythonic.node import ABSENT, Node, start


class FieldMessage(Node):
    """The scalar of a field of a message, or that it is unknown."""

    __slots__ = ("_value",)

    _value: Any

    def __init__(self, parent: Node | None, key: str | int | None, value: Any) -> None:
        start(self, parent, key, "")
        object.__setattr__(self, "_value", value)

    def __bool__(self) -> bool:
        return self._value is not ABSENT

    def __len__(self) -> int:
        return 0 if self._value is ABSENT else len(self._value)

    def __contains__(self, item: object) -> bool:
        return self._value is not ABSENT and item in self._value

    def __hash__(self) -> int:
        return 0 if self._value is ABSENT else hash(self._value)

    def __eq__(self, other: object) -> bool:
        if self._value is ABSENT:
            return False
        return bool(self._value == (other._value if isinstance(other, FieldMessage) else other))

    def __bytes__(self) -> bytes:
        value = self._known("bytes")
        return value.encode() if isinstance(value, str) else bytes(value)

    def __str__(self) -> str:
        value = self._known("a text")
        return value.decode() if isinstance(value, bytes) else str(value)

    def __repr__(self) -> str:
        return repr(self._value)

    def __format__(self, spec: str) -> str:
        # As published: of bytes it is Python's own notation, which `str` is not.
        return format(self._known("a text"), spec)

    def __int__(self) -> int:
        return int(self._known("an integer"))

    def __float__(self) -> float:
        return float(self._known("a number"))

    def _known(self, target: str) -> Any:
        if self._value is ABSENT:
            raise TypeError(f"{self._fullName()} is unknown and cannot be made {target}")
        return self._value
