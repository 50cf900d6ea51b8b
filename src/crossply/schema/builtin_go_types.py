"""The kinds that Kubernetes itself serves: their structure, as Go declares it.

`builtin_kinds.json` is generated (`tools/builtin_kinds`): each kind's type, each type's fields.
`go_decode_errors` reads objects by it; nothing here knows what a field means.
"""

from __future__ import annotations

import functools
from typing import NamedTuple


class GoTypes(NamedTuple):
    """Types by name: a mapping of JSON field names to types, or a word for a type that decodes itself.

    A field's type is `Embedded>T` when the field comes from an embedded struct, which Go's errors name.
    """

    kinds: dict[str, str]
    types: dict[str, dict[str, str] | str]


@functools.cache
def go_types() -> GoTypes:
    """Return the table, read once, at the first call."""
    import json
    import os

    with open(os.path.join(os.path.dirname(__file__), "builtin_kinds.json"), encoding="utf-8") as file:
        table = json.load(file)
    return GoTypes(table["kinds"], table["types"])


def type_of_kind(api_version: str, kind: str) -> str | None:
    """Return the name of the Go type of a built-in kind, or None."""
    return go_types().kinds.get(f"{api_version} {kind}")
