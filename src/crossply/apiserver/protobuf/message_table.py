"""What was derived from Kubernetes' modules: of every message the number, JSON name and type of its fields.

`messages.json` is written by tools/derive_protobuf_messages.py and read with the first protobuf body.
"""

from __future__ import annotations

import functools
import importlib.resources
from typing import NamedTuple

LIST, MAP, POINTER, EMBEDDED = "[]", "{}", "*", ">"

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."


class Field(NamedTuple):
    """One field of a message."""

    name: str
    type: str
    held: str
    """`[]` in a list, `{}` in a map, `*` by a pointer, `>` as part of the message itself."""


class Table(NamedTuple):
    """The derived data."""

    kinds: dict[str, str]
    """Message names by `apiVersion/Kind`."""
    messages: dict[str, dict[int, Field]]


@functools.cache
def table() -> Table:
    """The derived data, read when it is first asked for."""
    import orjson

    data = orjson.loads(importlib.resources.files(__package__).joinpath("messages.json").read_bytes())
    messages = {
        name: {int(number): Field(*field) for number, field in message.items()}
        for name, message in data["messages"].items()
    }
    return Table(data["kinds"], messages)


def message_of(api_version: str, kind: str) -> str | None:
    """The message of a kind; options of deletion are known in every version."""
    if kind == "DeleteOptions":
        return f"{_META}DeleteOptions"
    return table().kinds.get(f"{api_version}/{kind}")
