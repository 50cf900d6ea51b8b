"""Scalars with an explicit tag, such as `!!str 5` or `!!binary aGk=`.

A tag that Go does not know leaves the scalar a string, whatever it looks like; so tags that make other
readers build objects (`!!python/…`) are harmless here.
"""

from __future__ import annotations

from typing import Any

from crossply.values.yaml.scalars import resolve
from crossply.values.yaml.timestamps import is_timestamp

_PREFIX = "tag:yaml.org,2002:"
MERGE_TAG = _PREFIX + "merge"

_RESOLVABLE = frozenset(_PREFIX + name for name in ("bool", "int", "float", "null", "timestamp"))


def resolve_tagged(tag: str, text: str) -> tuple[Any, str]:
    """Return the value of a scalar with a tag, or what is wrong with it."""
    if not tag:
        return resolve(text), ""
    if tag == _PREFIX + "binary":
        return _binary(text)
    if tag not in _RESOLVABLE:
        return text, ""
    wanted = "!!" + tag[len(_PREFIX) :]
    if wanted == "!!timestamp" and is_timestamp(text):
        return text, ""
    value = resolve(text)
    found = _short_tag(value)
    if found == wanted:
        return value, ""
    if found == "!!int" and wanted == "!!float" and value < 1 << 63:
        return float(value), ""
    return None, f"cannot decode {found} `{text}` as a {wanted}"


def _short_tag(value: Any) -> str:
    if value is None:
        return "!!null"
    return {bool: "!!bool", int: "!!int", float: "!!float"}.get(type(value), "!!str")


def _binary(text: str) -> tuple[Any, str]:
    import base64
    import binascii

    packed = text.replace("\r", "").replace("\n", "")
    try:
        if len(packed) % 4:
            raise binascii.Error
        data = base64.b64decode(packed, validate=True)
    except ValueError:
        return None, "!!binary value contains invalid base64 data"
    # JSON has text only: Go replaces each byte that is not UTF-8 by a replacement character.
    shown = data.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in shown), ""
