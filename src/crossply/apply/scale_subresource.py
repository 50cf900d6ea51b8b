"""Owners of `/scale`: the replicas of an object, seen through the kind autoscaling/v1 Scale.

Before a write the owners of the replicas become owners of `.spec.replicas` of the Scale; after it, whoever
owns that owns the object's own field, wherever the object keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping

from crossply.apply.field_sets import Path, contains, difference, single
from crossply.apply.managed_fields import Managers, Owned, decode, encode
from crossply.values import Object

SCALE_VERSION = "autoscaling/v1"
_REPLICAS: Path = ("f:spec", "f:replicas")
# Where each apiVersion of a kind keeps its replicas; None for a version without /scale.
ReplicasPaths = Mapping[str, Path | None]


def scale_entries(entries: list[Object], replicas: ReplicasPaths) -> list[Object]:
    """Return the managedFields of the Scale of an object."""
    managers: Managers = {}
    for identity, owned in decode(entries).items():
        path = replicas.get(owned.api_version)
        if path and contains(owned.fields, path):
            managers[identity] = Owned(single(_REPLICAS), SCALE_VERSION, owned.time)
    return encode(managers)


def parent_entries(
    entries: list[Object], scaled: list[Object], replicas: ReplicasPaths, api_version: str
) -> list[Object]:
    """Return the managedFields of an object after a write to its Scale in some apiVersion."""
    managers: Managers = {}
    parents, scales = decode(entries), decode(scaled)
    for identity, owned in parents.items():
        if owned.api_version not in replicas:
            continue
        path = replicas[owned.api_version]
        if path is None or not contains(owned.fields, path):
            managers[identity] = owned
        elif identity in scales:
            managers[identity] = owned
            del scales[identity]
        elif rest := difference(owned.fields, single(path)):
            # The write took the replicas from this manager.
            managers[identity] = owned.owning(rest)
    path = replicas.get(api_version)
    for identity, owned in scales.items():
        if path and contains(owned.fields, _REPLICAS):
            # Kubernetes keeps no time for owners that came through /scale.
            before = parents.get(identity)
            managers[identity] = Owned(single(path), api_version, before.time if before else None)
    return encode(managers)
