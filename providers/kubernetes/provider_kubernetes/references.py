"""Objects of the control plane that an Object depends on, and takes values from."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from crossply.errors import CrossplyError
from crossply.kube.failures import NotFound
from crossply.kube.finalizers import add_finalizer, remove_finalizer
from crossply.provider import ExternalError
from crossply.values import Object
from crossply.values.field_path import get, set_value

from .clusters import Cluster
from .object_spec import DependsOn, PatchesFrom, Reference

MANAGER = "provider-kubernetes"
UNRESOLVED = "cannot resolve resource references"
FINALIZER = "kubernetes.crossplane.io/referred-by-object-"
"""Before the UID of an Object: what it depends on must not go before it."""


async def resolve(
    local: Cluster, references: Sequence[Reference], manifest: Object, uid: str, hold: bool
) -> Object:
    """The manifest with the values that it takes from others.

    Raises where one of them does not exist. With `hold`, they get a finalizer until the Object is gone.
    """
    patched = copy.deepcopy(manifest)
    for reference in references:
        target = reference.target
        if target is None:
            continue
        source = await _read(local, target)
        if source is None:
            raise ExternalError(
                f"{UNRESOLVED}: cannot get referenced resource: {_name(target)} not found",
                hint="create it, or correct spec.references; it is tried again",
            )
        if isinstance(target, PatchesFrom):
            _copy_value(source, target, reference.to_field_path, patched)
        await _hold(local, target, source, uid, hold)
    return patched


async def release(local: Cluster, references: Sequence[Reference], uid: str) -> None:
    """Take the finalizers off again."""
    for reference in references:
        if reference.target is not None:
            source = await _read(local, reference.target)
            if source is not None:
                await _hold(local, reference.target, source, uid, hold=False)


def _copy_value(source: Object, target: PatchesFrom, to_path: str | None, manifest: Object) -> None:
    try:
        set_value(manifest, to_path or target.field_path, copy.deepcopy(get(source, target.field_path)))
    except CrossplyError as problem:
        raise ExternalError(
            f"{UNRESOLVED}: cannot patch from referenced resource {_name(target)}: {problem}"
        ) from None


async def _read(local: Cluster, target: DependsOn | PatchesFrom) -> Object | None:
    return await local.get(_reference(target))


async def _hold(
    local: Cluster, target: DependsOn | PatchesFrom, source: Object, uid: str, hold: bool
) -> None:
    kind = await local.kind_of(_reference(target))
    if not hold:
        try:
            await remove_finalizer(local.client, kind, source, FINALIZER + uid, MANAGER)
        except NotFound:
            return
    elif not source["metadata"].get("deletionTimestamp"):
        await add_finalizer(local.client, kind, source, FINALIZER + uid, MANAGER)


def _reference(target: DependsOn | PatchesFrom) -> dict[str, Any]:
    return {
        "apiVersion": target.api_version,
        "kind": target.kind,
        "name": target.name,
        "namespace": target.namespace or "",
    }


def _name(target: DependsOn | PatchesFrom) -> str:
    return f"{target.kind} {target.namespace + '/' if target.namespace else ''}{target.name}"
