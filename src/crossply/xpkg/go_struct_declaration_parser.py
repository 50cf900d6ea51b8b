"""Go structs, declared in lines of text.

A line is the name of a struct, a colon, and its fields: `name:type` for one that is always written,
`name?type` for one that is left out when it is empty, `name*type` for one behind a pointer, which is left out
when it is null, and `name^type` for a pointer that is written even then. A type is `string`, `bool`, a
number, `raw` for anything, the name of a struct, a named string such as `v1.Mode$`, or one of these after
`[]` or `map[]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from crossply.kinds.gostructs import (
    BOOL,
    FLOAT,
    INT32,
    INT64,
    JSON_STRING,
    RAW,
    Field,
    GoType,
    list_of,
    map_of,
    strict_text,
    struct,
)

_PLAIN = {
    "string": JSON_STRING,
    "bool": BOOL,
    "int32": INT32,
    "int64": INT64,
    "float64": FLOAT,
    "raw": RAW,
}
_FIELD = re.compile(r"(\w+)([:?*^])(\S+)")


def declare(lines: str, package: str, known: Mapping[str, GoType] = {}) -> dict[str, GoType]:
    """The structs that the lines declare, by name; a struct may use those before it and the `known` ones."""
    declared = dict(known)
    for line in lines.strip().splitlines():
        name, _, fields = line.partition(":")
        declared[name] = struct(name, _fields(fields, declared), package)
    return declared


def _fields(text: str, declared: Mapping[str, GoType]) -> dict[str, Field]:
    fields = {}
    for name, mark, type_name in _FIELD.findall(text):
        go_type = _type(type_name, declared)
        if mark == "^":
            fields[name] = Field(_nullable(go_type), optional=False)
        else:
            fields[name] = Field(go_type, optional=mark != ":", pointer=mark == "*")
    return fields


def _type(name: str, declared: Mapping[str, GoType]) -> GoType:
    if name.startswith("[]"):
        return list_of(_type(name[2:], declared))
    if name.startswith("map[]"):
        return map_of(_type(name[5:], declared))
    if name.endswith("$"):
        return strict_text(name[:-1])
    return _PLAIN[name] if name in _PLAIN else declared[name]


def _nullable(go_type: GoType) -> GoType:
    def pass_through(value: Any) -> Any:
        return None if value is None else go_type.pass_through(value)

    return GoType(go_type.name, pass_through, lambda value: value is None)
