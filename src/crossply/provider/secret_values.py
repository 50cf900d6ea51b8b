"""Values of Secrets, as parameters and configurations refer to them.

Methods get the parameters of a managed resource with these values in them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.compose.object_metadata import namespace_of
from crossply.errors import CrossplyError
from crossply.kube.core_kinds import SECRET
from crossply.provider.cached_object_reader import WatchedObjects
from crossply.provider.decode import Lookups, Path, decode, find_fields
from crossply.provider.field_model import Secret
from crossply.provider.managed_kind import ManagedKind
from crossply.provider.reconcile_triggers import ReadObject
from crossply.values import Object


class MissingSecret(CrossplyError):
    """A Secret that a managed resource or a ProviderConfig refers to does not exist, or lacks the key."""

    code = "CP-883"
    hint = "create the Secret, or correct the reference to it"


class SecretReader:
    """Reads Secrets, and notes which."""

    def __init__(self, objects: WatchedObjects, note: Callable[[ReadObject], None]) -> None:
        self._objects = objects
        self._note = note

    async def data(self, namespace: str, name: str) -> dict[str, bytes]:
        """All keys of a Secret; raises MissingSecret."""
        self._note(ReadObject(SECRET, namespace, name))
        secret = await self._objects.get(SECRET, name, namespace)
        if secret is None:
            raise MissingSecret(f'Secret "{name}" not found in namespace "{namespace}"')
        return secret_data(secret)

    async def value(self, namespace: str, name: str, key: str) -> bytes:
        """One key of a Secret; raises MissingSecret."""
        data = await self.data(namespace, name)
        if key not in data:
            keys = ", ".join(sorted(data)) or "none"
            raise MissingSecret(
                f'Secret "{name}" in namespace "{namespace}" has no key "{key}"',
                hint=f"the keys that it has: {keys}",
            )
        return data[key]


def secret_data(secret: Object) -> dict[str, bytes]:
    """What is in a Secret, by key. What is not base64 is left out."""
    data = {}
    for key, value in (secret.get("data") or {}).items():
        try:
            data[key] = base64.b64decode(value)
        except (binascii.Error, TypeError, ValueError):
            continue
    return data


class Parameters(NamedTuple):
    """Decoded parameters."""

    params: Any
    """An instance of the kind's `Parameters`."""
    secrets: tuple[str, ...]
    """The values that no message may contain."""


async def read_parameters(
    kind: ManagedKind, resource: Object, reader: SecretReader, *, allow_missing: bool
) -> Parameters:
    """The parameters of a resource; raises MissingSecret or UnexpectedValue."""
    fields = (resource.get("spec") or {}).get("forProvider") or {}
    secrets: dict[Path, str] = {}
    for place in find_fields(kind.parameters, fields, Secret):
        reference = _at(fields, place.path).get(place.field.secret_ref_name)
        if not reference:
            continue
        namespace = namespace_of(resource) or str(reference.get("namespace", ""))
        try:
            value = await reader.value(
                namespace, str(reference.get("name", "")), str(reference.get("key", ""))
            )
        except MissingSecret:
            # What is being deleted does not wait for a Secret that may have gone before it.
            if not allow_missing:
                raise
        else:
            secrets[place.value_path] = value.decode(errors="replace")
    params = decode(kind.parameters, fields, Lookups(secrets=secrets, allow_missing=allow_missing))
    return Parameters(params, tuple(secrets.values()))


def _at(fields: Any, path: Path) -> Any:
    for step in path:
        fields = fields[step]
    return fields
