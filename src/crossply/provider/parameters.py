"""The parameters of a managed resource as its methods get them, with the values of Secrets."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.object_metadata import namespace_of
from crossply.provider.decode import Lookups, Path, decode, find_fields
from crossply.provider.field_model import Secret
from crossply.provider.managed_kind import ManagedKind
from crossply.provider.secrets import MissingSecret, SecretReader
from crossply.values import Object


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
