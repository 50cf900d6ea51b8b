"""What the controller remembers of a definition, without its schemas."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from crossply.apiserver.apiextensions.condition_list import is_true
from crossply.apiserver.apiextensions.crd_status import is_served, is_terminating
from crossply.apiserver.apiextensions.stored_schemas import StoredDefinition
from crossply.apiserver.stored_object_codec import SORTED, to_json
from crossply.values import Object
from crossply.values.bounded_cache import IdentityCache

_DIGEST_BYTES = 16
_CACHED_BYTES = 1 << 20
"""Of JSON, of the specs whose digests are remembered: the status of a new definition is written at once."""


class Serving(NamedTuple):
    """The parts of a definition that its resource in the registry depends on."""

    is_served: bool
    digest: bytes
    """Of the spec and the accepted names."""


@dataclass(slots=True)
class ServedDefinition:
    group: str
    plural: str
    accepted: Object
    """The accepted names."""
    awaits_names: bool
    is_terminating: bool
    serving: Serving
    stored: StoredDefinition

    @classmethod
    def of(cls, definition: Object, data: bytes) -> ServedDefinition:
        """Of a definition with the status that it should have, and as it is stored."""
        spec, accepted = definition["spec"], accepted_names(definition)
        return cls(
            group=spec["group"],
            plural=spec["names"]["plural"],
            accepted=accepted,
            awaits_names=not is_true(definition, "NamesAccepted"),
            is_terminating=is_terminating(definition),
            serving=Serving(
                is_served(definition), _digest(_specs.get(spec).digest + to_json(accepted, SORTED))
            ),
            stored=StoredDefinition(data),
        )


def accepted_names(definition: Object) -> Object:
    """The names in the status of a definition; empty before any is accepted."""
    names: Object = (definition.get("status") or {}).get("acceptedNames") or {}
    return names


class _SpecDigest(NamedTuple):
    digest: bytes
    size: int


def _digest_of_spec(spec: Object) -> _SpecDigest:
    content = to_json(spec, SORTED)
    return _SpecDigest(_digest(content), len(content))


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


_specs: IdentityCache[_SpecDigest] = IdentityCache(_CACHED_BYTES, _digest_of_spec, lambda known: known.size)
