"""The Secret that an object has its connection details written to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crossply.compose.engine_field_paths import INFRASTRUCTURE, LEGACY
from crossply.compose.object_metadata import namespace_of
from crossply.values import Object
from crossply.values.gobase64 import decode

_FIELD = "writeConnectionSecretToRef"


def secret_place(owner: Object) -> tuple[str, str]:
    """The namespace and name of the connection Secret that an object asks for; both empty for none."""
    ref = LEGACY.read(owner, _FIELD) or INFRASTRUCTURE.read(owner, _FIELD)
    if not isinstance(ref, dict) or not ref.get("name"):
        return "", ""
    return namespace_of(owner) or str(ref.get("namespace", "")), str(ref["name"])


def decode_data(secret: Object) -> dict[str, bytes]:
    """The data of a Secret as bytes."""
    data = secret.get("data")
    if not isinstance(data, dict):
        return {}
    return {key: decode(value) for key, value in data.items() if isinstance(value, str)}


def published_details(details: Mapping[str, bytes], keys: Sequence[str]) -> dict[str, bytes]:
    """The details that a definition lets out: all of them when it names no keys."""
    return {key: value for key, value in details.items() if not keys or key in keys}
