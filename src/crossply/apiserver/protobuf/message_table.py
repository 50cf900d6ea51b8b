"""Data derived from Kubernetes' modules: the number, JSON name and type of every message field.

`messages.json` is written by tools/derive_protobuf_messages.py and read with the first protobuf body.
"""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.values import Object

LIST, MAP, POINTER, EMBEDDED = "[]", "{}", "*", ">"

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."


class Field(NamedTuple):
    name: str
    type: str
    container: str
    """`[]` in a list, `{}` in a map, `*` by a pointer, `>` as part of the message itself."""


class Table(NamedTuple):
    kinds: dict[str, str]
    """Message names by `apiVersion/Kind`."""
    messages: dict[str, dict[int, Field]]


@functools.cache
def table() -> Table:
    """The derived data, read on first use."""
    import orjson

    data = orjson.loads(importlib.resources.files(__package__).joinpath("messages.json").read_bytes())
    messages = {
        name: {int(number): Field(*field) for number, field in message.items()}
        for name, message in data["messages"].items()
    }
    return Table(data["kinds"], messages)


def message_of(api_version: str, kind: str) -> str | None:
    """The message of a kind; DeleteOptions exists in every version."""
    if kind == "DeleteOptions":
        return f"{_META}DeleteOptions"
    return table().kinds.get(f"{api_version}/{kind}")


_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"


class Alternatives(NamedTuple):
    """How the fields of a message with alternatives become a value, and back."""

    joined: Callable[[Object], Any]
    split: Callable[[Any], Object]


def _schema_or_bool(obj: Object) -> Any:
    return obj["schema"] if "schema" in obj else obj.get("allows", False)


ALTERNATIVES: dict[str, Alternatives] = {
    f"{_SCHEMA}OrArray": Alternatives(
        lambda obj: obj.get("jSONSchemas") or obj.get("schema"),
        lambda value: {"jSONSchemas" if isinstance(value, list) else "schema": value},
    ),
    f"{_SCHEMA}OrBool": Alternatives(
        _schema_or_bool,
        lambda value: {"allows": value} if isinstance(value, bool) else {"allows": True, "schema": value},
    ),
    f"{_SCHEMA}OrStringArray": Alternatives(
        lambda obj: obj.get("property") or obj.get("schema"),
        lambda value: {"property" if isinstance(value, list) else "schema": value},
    ),
}
"""By message name."""
