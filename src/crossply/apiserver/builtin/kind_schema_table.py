"""Data derived from a real server: resources, the structure of their objects, how Go writes each field.

`kinds.json` is written by tools/derive_builtin_kinds.py and read when the first kind is needed.
"""

from __future__ import annotations

import functools
import importlib.resources
from typing import Any, NamedTuple

from crossply.values import Object

GroupVersionKind = tuple[str, str, str]


class Table(NamedTuple):
    resources: list[Object]
    definitions: dict[str, Object]
    go: dict[str, dict[str, str]]


@functools.cache
def table() -> Table:
    """The derived data, read on first use."""
    import orjson

    data = importlib.resources.files(__package__).joinpath("kinds.json").read_bytes()
    loaded: dict[str, Any] = orjson.loads(data)
    return Table(loaded["resources"], loaded["definitions"], loaded["go"])


def definitions() -> dict[str, Object]:
    """Schemas by name; a schema refers to another by `$ref` with the bare name."""
    return table().definitions


@functools.cache
def names_by_kind() -> dict[GroupVersionKind, str]:
    """The definition that describes a kind."""
    return {
        (kind["group"], kind["version"], kind["kind"]): name
        for name, schema in definitions().items()
        for kind in schema.get("x-kubernetes-group-version-kind", ())
    }
