"""Decode an object as Go decodes JSON into a type, with Go's errors.

The types come from `builtin_go_types`. Fields are visited in the order of their names, which is the order in
which Go writes an object it holds as a map; the first value of a wrong type is the one reported. Fields that
the type does not have are strict errors, reported only when everything else could be read.
"""

from __future__ import annotations

from typing import Any

from crossply.schema.builtin_go_types import GoTypes, go_types
from crossply.schema.fast_go_type_check import INTEGER_BITS, UNSIGNED_BITS, reader_of
from crossply.values import Object

_INTEGERS = frozenset((*INTEGER_BITS, *UNSIGNED_BITS))


def type_problem(value: Any, type_name: str) -> str | None:
    """Return the error of reading a value into a Go type, or None when it reads well."""
    if value is None or reader_of(type_name)(value):
        return None
    return _Reader(go_types()).read_all(value, type_name)


def strict_problem(value: Any, type_name: str) -> str | None:
    """Return the error of reading a value into a Go type that must have all of its fields, or None."""
    reader = _Reader(go_types())
    problem = reader.read_all(value, type_name)
    if problem or not reader.unknown:
        return problem
    return "strict decoding error: " + ", ".join(f'unknown field "{path}"' for path in reader.unknown)


class _Stop(Exception):
    """A type that reads itself refused its value: nothing after it is read."""


class _Reader:
    """The state of one decoding: the struct, its fields, the full path, and the errors."""

    __slots__ = ("fields", "path", "problem", "struct", "table", "unknown")

    def __init__(self, table: GoTypes) -> None:
        self.table = table
        self.struct = ""
        self.fields: list[str] = []
        self.path = ""
        self.problem: str | None = None
        self.unknown: list[str] = []

    def read_all(self, value: Any, type_name: str) -> str | None:
        """Read a whole object and return the first problem."""
        try:
            self.read(value, type_name)
        except _Stop as stop:
            return str(stop)
        return self.problem

    def read(self, value: Any, type_name: str) -> None:
        """Read a value into a type; a null leaves any type as it is."""
        if value is None or type_name == "any":
            return
        shape = type_name.partition("=")[2] or type_name
        if shape.startswith("[]"):
            self._list(value, type_name, shape[2:])
        elif shape.startswith("{}"):
            self._map(value, type_name, shape[2:])
        elif type_name in self.table.types:
            self._named(value, type_name)
        else:
            self._scalar(value, type_name)

    def _named(self, value: Any, type_name: str) -> None:
        fields = self.table.types[type_name]
        if type_name in _SCHEMA_OR:
            self._schema_or(value, _SCHEMA_OR[type_name])
        elif isinstance(fields, str):
            from crossply.schema.go_custom_types import UnmarshalFailed, unmarshal

            try:
                unmarshal(type_name, value)
            except UnmarshalFailed as failed:
                raise _Stop(failed.with_place(self._place())) from None
        elif isinstance(value, dict):
            self._struct(value, type_name, fields)
        else:
            self._mismatch(_json_kind(value), type_name)

    def _schema_or(self, value: Any, alternative: type) -> None:
        if isinstance(value, list) and alternative is list:
            for item in value:
                self.read(item, "v1.JSONSchemaProps")
        elif isinstance(value, dict):
            self.read(value, "v1.JSONSchemaProps")
        elif alternative is bool and not isinstance(value, bool):
            raise _Stop("boolean or JSON schema expected")

    def _struct(self, value: Object, type_name: str, fields: dict[str, str]) -> None:
        outer_struct, outer_path = self.struct, self.path
        for name in sorted(value):
            self.struct = type_name.rstrip("#").rpartition(".")[2]
            self.path = f"{outer_path}.{name}" if outer_path else name
            if name not in fields:
                self.unknown.append(self.path)
                continue
            embedded, arrow, field_type = fields[name].rpartition(">")
            self.fields.append(f"{embedded}.{name}" if arrow else name)
            self.read(value[name], field_type)
            self.fields.pop()
        self.struct, self.path = outer_struct, outer_path

    def _list(self, value: Any, type_name: str, item_type: str) -> None:
        if not isinstance(value, list):
            self._mismatch(_json_kind(value), type_name)
            return
        outer = self.path
        for index, item in enumerate(value):
            self.path = f"{outer}[{index}]"
            self.read(item, item_type)
        self.path = outer

    def _map(self, value: Any, type_name: str, member_type: str) -> None:
        if not isinstance(value, dict):
            self._mismatch(_json_kind(value), type_name)
            return
        outer = self.path
        for name in sorted(value):
            self.path = f"{outer}.{name}"
            self.read(value[name], member_type)
        self.path = outer

    def _scalar(self, value: Any, type_name: str) -> None:
        kind = type_name.partition(":")[2] or type_name
        actual = _json_kind(value)
        if kind == "bytes" and isinstance(value, str):
            self._base64(value)
        elif kind in _INTEGERS and actual == "number":
            self._integer(value, type_name, kind)
        elif (kind, actual) not in _MATCHING:
            self._mismatch(actual, type_name)

    def _integer(self, value: float, type_name: str, kind: str) -> None:
        from crossply.values.gojson import dumps

        written = dumps(value)
        is_integer = isinstance(value, int) or written.lstrip("-").isdigit()
        if not is_integer or not reader_of(kind)(int(value)):
            self._mismatch(f"number {written}", type_name)

    def _base64(self, value: str) -> None:
        from crossply.values.gobase64 import bad_offset

        at = bad_offset(value)
        if at is not None and self.problem is None:
            self.problem = f"illegal base64 data at input byte {at}"

    def _mismatch(self, actual: str, type_name: str) -> None:
        if self.problem is None:
            self.problem = (
                f"json: cannot unmarshal {actual} into {self._place()} of type {go_name(type_name)}"
            )

    def _place(self) -> str:
        if not self.struct:
            return "Go value"
        return f"Go struct field {self.struct}.{'.'.join(self.fields)}"


_SCHEMA_OR = {"v1.JSONSchemaPropsOrBool": bool, "v1.JSONSchemaPropsOrArray": list}
_MATCHING = {("string", "string"), ("bool", "bool"), ("float32", "number"), ("float64", "number")}


def go_name(type_name: str) -> str:
    """Return a type's name as Go prints it."""
    if "=" in type_name or ":" in type_name:
        return type_name.partition("=")[0].partition(":")[0]
    if type_name.startswith("[]"):
        return "[]" + go_name(type_name[2:])
    if type_name.startswith("{}"):
        return "map[string]" + go_name(type_name[2:])
    return "[]uint8" if type_name == "bytes" else type_name.rstrip("#")


def _json_kind(value: Any) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "object"
