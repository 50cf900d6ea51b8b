"""Applies objects by server-side apply, waits for kinds that are about to be served, and prunes.

What others need is applied before them, and some kinds are never pruned.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from crossply.cli.up.files.file_set import FileObject
from crossply.control.planning.field_changes import Field, fields_between
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.discovery import Discovery, UnknownKind
from crossply.kube.failures import Conflict
from crossply.kube.kind import Kind
from crossply.resource_tree.node import Reference
from crossply.values import Object
from crossply.values.api_version import api_group

MANAGER = "crossply-up"
WAIT_SECONDS = 60.0
"""For a kind that is not served yet: its definition is being established, or its package installed."""
_PAUSE = 0.3

CREATED, CHANGED, UNCHANGED, DELETED, NOT_DELETED, FAILED = (
    "created",
    "changed",
    "unchanged",
    "deleted",
    "kept",
    "failed",
)

_PACKAGE_KINDS = ("Configuration", "Function", "Provider")
_DEFINITION_KINDS = ("CompositeResourceDefinition", "CustomResourceDefinition", "ManagedResourceDefinition")
_NAMESPACES, _DEFINITIONS, _COMPOSITIONS, _SETTINGS, _PACKAGES, _BUILT_IN, _OTHERS = range(7)


class Outcome(NamedTuple):
    """What became of one object of the files."""

    item: FileObject
    action: str
    fields: tuple[Field, ...] = ()
    problem: str = ""
    hint: str = ""
    exists: bool = True
    """Of one that failed: whether there is an older one in the control plane."""


Waiting = Callable[[Sequence[FileObject], Sequence[Outcome]], bool]
"""Called again and again with the objects whose kinds are not served yet, and what became of the others.

Returns whether to wait on.
"""


class Applier:
    """Applies the files of one control plane, again and again."""

    def __init__(self, client: Client, seconds: float = WAIT_SECONDS) -> None:
        self._client = client
        self._discovery = Discovery(client)
        self._seconds = seconds
        self._applied: dict[Reference, FileObject] = {}

    async def apply(
        self, items: Sequence[FileObject], waiting: Waiting = lambda later, outcomes: True
    ) -> list[Outcome]:
        """Apply all, and delete what was applied before and is gone."""
        outcomes = await self._prune(items)
        ordered = [items[position] for position in in_order([item.object for item in items])]
        end = time.monotonic() + self._seconds
        while ordered:
            later = []
            for item in ordered:
                outcome = await self._apply(item, time.monotonic() >= end)
                if outcome is None:
                    later.append(item)
                else:
                    outcomes.append(outcome)
            ordered = later
            if ordered:
                if not waiting(ordered, outcomes):
                    break
                self._discovery.doubt()
                await asyncio.sleep(_PAUSE)
        return outcomes

    async def _apply(self, item: FileObject, last_time: bool) -> Outcome | None:
        """Apply one object; None where its kind is not served yet."""
        try:
            kind = await self._kind(item)
            if kind is None and not last_time:
                return None
            if kind is None:
                kind = await self._discovery.kind_for(item.reference.api_version, item.reference.kind)
            return await self._write(item, kind)
        except (CrossplyError, Conflict) as problem:
            before = self._applied.get(item.reference)
            return _failed(before._replace(place=item.place) if before else item, problem, before is not None)

    async def _kind(self, item: FileObject) -> Kind | None:
        try:
            return await self._discovery.kind_for(item.reference.api_version, item.reference.kind)
        except UnknownKind:
            return None

    async def _write(self, item: FileObject, kind: Kind) -> Outcome:
        obj = addressed(item.object, kind, self._client.config.namespace)
        sent = item._replace(object=obj)
        before = await self._client.get(kind, sent.reference.name, sent.reference.namespace)
        try:
            after = await self._client.apply(kind, obj, MANAGER)
        except (CrossplyError, Conflict) as problem:
            return _failed(sent, problem, before is not None)
        self._applied[item.reference] = sent
        if before is None:
            return Outcome(sent, CREATED)
        fields = tuple(
            field for field in fields_between(before, after) if not field.path.startswith("status")
        )
        return Outcome(sent, CHANGED if fields else UNCHANGED, fields)

    async def _prune(self, items: Sequence[FileObject]) -> list[Outcome]:
        present = {item.reference for item in items}
        gone = [reference for reference in self._applied if reference not in present]
        outcomes = []
        for reference in reversed(gone):
            outcome = await self._delete(self._applied[reference])
            outcomes.append(outcome)
            if outcome.action != FAILED:
                del self._applied[reference]
        return outcomes

    async def _delete(self, item: FileObject) -> Outcome:
        try:
            kind = await self._kind(item)
            if kind is None:
                return Outcome(item, DELETED)
            if not is_pruned(item.object):
                return Outcome(
                    item, NOT_DELETED, hint=f"kubectl delete {kind.resource} {item.reference.name}"
                )
            obj = addressed(item.object, kind, self._client.config.namespace)
            reference = item._replace(object=obj).reference
            await self._client.delete(kind, reference.name, reference.namespace)
        except (CrossplyError, Conflict) as problem:
            return _failed(item, problem, exists=True)
        return Outcome(item, DELETED)


def _failed(item: FileObject, problem: CrossplyError | Conflict, exists: bool) -> Outcome:
    hint = getattr(problem, "hint", "")
    return Outcome(item, FAILED, problem=str(problem), hint=hint, exists=exists)


def addressed(obj: Object, kind: Kind, namespace: str) -> Object:
    """The object with a namespace if its kind has one, and without if it has none."""
    metadata = dict(obj["metadata"])
    if not kind.namespaced:
        metadata.pop("namespace", None)
    elif not metadata.get("namespace"):
        metadata["namespace"] = namespace or "default"
    return {**obj, "metadata": metadata}


def _rank(obj: Object) -> int:
    """What an object needs comes before it: definitions before Compositions, packages before XRs."""
    group, kind = api_group(str(obj.get("apiVersion") or "")), str(obj.get("kind") or "")
    if kind in _DEFINITION_KINDS:
        return _DEFINITIONS
    if group == "pkg.crossplane.io":
        return _PACKAGES if kind in _PACKAGE_KINDS else _SETTINGS
    if group == "apiextensions.crossplane.io":
        return _COMPOSITIONS
    if kind == "Namespace" and not group:
        return _NAMESPACES
    return _BUILT_IN if "." not in group or group.endswith(".k8s.io") else _OTHERS


def in_order(objects: list[Object]) -> list[int]:
    """The positions of objects, in the order in which they are applied."""
    return sorted(range(len(objects)), key=lambda position: _rank(objects[position]))


def is_pruned(obj: Object) -> bool:
    """Whether an object that left the files is deleted. With these, much else would be deleted."""
    return _rank(obj) not in (_NAMESPACES, _DEFINITIONS, _PACKAGES)


def is_shown(obj: Object) -> bool:
    """Whether the tree below an object is worth watching: XRs, claims, managed resources and their like."""
    return _rank(obj) == _OTHERS
