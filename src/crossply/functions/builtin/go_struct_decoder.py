"""Decoding of manifest fields into Go types, with the messages of Go's JSON decoder.

Go decodes the fields of an object by name. It remembers the first value of a wrong type and continues; an
invalid time stops it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from crossply.kinds.gostructs import json_kind
from crossply.values import Object

_RFC3339 = "2006-01-02T15:04:05Z07:00"
_INT64 = 1 << 63


class StructError(Exception):
    """A field does not fit its Go type. It never leaves the function: it becomes a fatal result."""

    def __init__(self, error: str) -> None:
        super().__init__(f"cannot unmarshal value from JSON: {error}")


class TypeMismatch(Exception):
    """A value of a wrong type: what JSON calls it, and the Go type that it should be."""

    def __init__(self, value: Any, go_type: str, shown: str = "") -> None:
        super().__init__(f"{json_kind(value)}{shown}", go_type)


Reader = Callable[[Any], Any]


class Member(NamedTuple):
    """A member of a Go struct: how it is read, and what errors call it."""

    read: Reader
    place: str


class Struct(NamedTuple):
    """A Go struct; members that are null or absent are left out of what is read."""

    go_type: str
    members: dict[str, Member]
    nested: Mapping[str, Struct] = {}
    """Members that are structs. Errors call their members by the path from the outermost struct."""

    def read(self, value: Any, problems: list[str]) -> Object:
        """Read an object; what does not fit is noted in `problems`."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            problems.append(f"json: cannot unmarshal {json_kind(value)} into Go value of type {self.go_type}")
            return {}
        decoded: Object = {}
        for name in sorted(value):
            if value[name] is None:
                continue
            if name in self.members:
                self._read_member(name, value[name], decoded, problems)
            elif name in self.nested:
                decoded[name] = self._read_nested(name, value[name], problems)
        return decoded

    def _read_nested(self, name: str, value: Any, problems: list[str]) -> Object:
        struct = self.nested[name]
        if isinstance(value, dict):
            return struct.read(value, problems)
        place = f"{self.go_type.rpartition('.')[2]}.{name}"
        kind = json_kind(value)
        problems.append(
            f"json: cannot unmarshal {kind} into Go struct field {place} of type {struct.go_type}"
        )
        return {}

    def _read_member(self, name: str, value: Any, decoded: Object, problems: list[str]) -> None:
        member = self.members[name]
        try:
            decoded[name] = member.read(value)
        except TypeMismatch as misfit:
            kind, go_type = misfit.args
            place = f"{self.go_type.rpartition('.')[2]}.{member.place}"
            problems.append(f"json: cannot unmarshal {kind} into Go struct field {place} of type {go_type}")


def read_map(value: Any, go_type: str) -> Object | None:
    """A map, or None where there is none."""
    if value is not None and not isinstance(value, dict):
        raise StructError(f"json: cannot unmarshal {json_kind(value)} into Go value of type {go_type}")
    return value


def read_structs(values: Iterable[Any], struct: Struct) -> list[Object]:
    """All of a list or map; the first problem is raised after all were read, as Go does it."""
    problems: list[str] = []
    decoded = [struct.read(value, problems) for value in values]
    if problems:
        raise StructError(problems[0])
    return decoded


def text(go_type: str = "string") -> Reader:
    """A string, or one of Go's named string types."""

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise TypeMismatch(value, go_type)
        return value

    return read


def texts(value: Any) -> dict[str, str]:
    """A map of strings; null reads as the empty one."""
    if not isinstance(value, dict):
        raise TypeMismatch(value, "map[string]string")
    read = text()
    return {key: "" if value[key] is None else read(value[key]) for key in sorted(value)}


def int64(value: Any) -> int:
    """A whole number of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeMismatch(value, "int64")
    if value != int(value) or not -_INT64 <= value < _INT64:
        from crossply.values.gojson import dumps

        raise TypeMismatch(value, "int64", f" {dumps(value)}")
    return int(value)


def time(value: Any) -> str:
    """A time; an invalid one is an error at once."""
    from crossply.values.timestamps import parse_problem

    if not isinstance(value, str):
        raise TypeMismatch(value, "string")
    error = parse_problem(value, _RFC3339)
    if error:
        raise StructError(error)
    return value
