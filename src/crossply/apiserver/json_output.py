"""Writing JSON that clients and webhooks read: one object that nests very deeply must not spoil the rest."""

from __future__ import annotations

from typing import Any

import orjson

SORTED, INDENTED = orjson.OPT_SORT_KEYS, orjson.OPT_INDENT_2


def to_json(value: Any, option: int = 0) -> bytes:
    """A value as JSON.

    orjson writes 254 levels at most. Stored objects nest less deeply, with room for the list or review around
    them, but earlier versions stored deeper ones: those are written by the slower standard library.
    """
    try:
        return orjson.dumps(value, option=option)
    except TypeError:
        return _to_json_of_any_depth(value, option)


def _to_json_of_any_depth(value: Any, option: int) -> bytes:
    import json

    is_indented = bool(option & INDENTED)
    text = json.dumps(
        value,
        ensure_ascii=False,
        sort_keys=bool(option & SORTED),
        indent=2 if is_indented else None,
        separators=(",", ": " if is_indented else ":"),
    )
    return text.encode()
