"""Connection Secrets: which one an object asks for, what is in it, and who may write it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence

from crossply.compose.engine_field_paths import INFRASTRUCTURE, LEGACY
from crossply.compose.object_metadata import (
    controller_of,
    is_controlled_by_another,
    namespace_of,
    owner_reference,
)
from crossply.values import Object
from crossply.values.gobase64 import decode

TYPE = "connection.crossplane.io/v1alpha1"
_FIELD = "writeConnectionSecretToRef"


def secret_place(owner: Object) -> tuple[str, str]:
    """The namespace and name of the connection Secret that an object asks for; both empty for none."""
    ref = LEGACY.read(owner, _FIELD) or INFRASTRUCTURE.read(owner, _FIELD)
    if not isinstance(ref, dict) or not ref.get("name"):
        return "", ""
    return namespace_of(owner) or str(ref.get("namespace", "")), str(ref["name"])


def new_secret(owner: Object, namespace: str, name: str, data: Mapping[str, str]) -> Object:
    """A connection Secret that its owner controls."""
    metadata = {"name": name, "namespace": namespace, "ownerReferences": [owner_reference(owner)]}
    secret: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": TYPE}
    return {**secret, "data": dict(data)} if data else secret


def refusal_to_write(secret: Object, uid: str) -> str:
    """Why the object of a UID may not write an existing Secret; empty where it may.

    It may if it controls the Secret, or if nothing does and the Secret has the type of connection Secrets.
    """
    if is_controlled_by_another(secret, uid):
        return f'existing secret is not controlled by UID "{uid}"'
    if controller_of(secret) is None and secret.get("type") != TYPE:
        return f'refusing to modify uncontrolled secret of type "{secret.get("type") or "Opaque"}"'
    return ""


def encode_data(data: Mapping[str, bytes]) -> dict[str, str]:
    """The data of a Secret as the API has it."""
    return {key: b64encode(value).decode() for key, value in data.items()}


def decode_data(secret: Object) -> dict[str, bytes]:
    """The data of a Secret as bytes."""
    data = secret.get("data")
    if not isinstance(data, dict):
        return {}
    return {key: decode(value) for key, value in data.items() if isinstance(value, str)}


def published_details(details: Mapping[str, bytes], keys: Sequence[str]) -> dict[str, bytes]:
    """The details that a definition lets out: all of them when it names no keys."""
    return {key: value for key, value in details.items() if not keys or key in keys}
