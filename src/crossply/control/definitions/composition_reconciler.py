"""Compositions become CompositionRevisions: one for every state of a Composition that ever mattered.

`valid_pipeline_reconciler` checks whether the functions of a revision can compose.
"""

from __future__ import annotations

import orjson

from crossply.compose.events import NORMAL, WARNING, Event
from crossply.compose.object_metadata import controller_of
from crossply.control.controller_context import Plane
from crossply.control.kinds import COMPOSITION, REVISION
from crossply.kinds.composition import parse_composition
from crossply.kinds.composition_revision import (
    COMPOSITION_NAME,
    CompositionRevision,
    composition_hash,
    hash_label,
    new_revision,
    owner_reference,
    parse_revision,
)
from crossply.kinds.fields import KindError
from crossply.values import Object

READ = "ReadComposition"


class CompositionReconciler:
    """Keeps the newest revision of every Composition in line with it."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    async def reconcile(self, name: str) -> None:
        """Make, or make newest, the revision of a Composition as it is now."""
        composition = await self._plane.as_controller.get(COMPOSITION, name)
        if composition is None or composition["metadata"].get("deletionTimestamp"):
            return
        self._check(composition)
        stored = [await self._owned(obj, composition) for obj in await self._revisions(name)]
        parsed = [parse_revision(obj) for obj in stored]
        newest = max((revision.number for revision in parsed), default=0)
        label = hash_label(composition_hash(composition))
        for revision in parsed:
            if revision.hash_label == label:
                await self._make_newest(revision, newest)
                return
        await self._create(composition, newest + 1)

    def _check(self, composition: Object) -> None:
        """Report on a Composition that it is invalid; it gets a revision, which reports it too."""
        try:
            parse_composition(composition)
        except KindError as problem:
            self._plane.recorder.record(composition, Event(WARNING, READ, str(problem)))

    async def _revisions(self, name: str) -> list[Object]:
        listed = await self._plane.as_controller.list(REVISION, label_selector=f"{COMPOSITION_NAME}={name}")
        return [orjson.loads(data) for data in listed.items]

    async def _owned(self, revision: Object, composition: Object) -> Object:
        """The revision with its Composition as controller: one from a backup has lost it."""
        if controller_of(revision) is not None:
            return revision
        others = revision["metadata"].get("ownerReferences") or []
        version = revision["metadata"]["resourceVersion"]
        metadata = {"ownerReferences": [*others, owner_reference(composition)], "resourceVersion": version}
        return await self._plane.as_installer.patch_merge(
            REVISION, revision["metadata"]["name"], {"metadata": metadata}
        )

    async def _make_newest(self, revision: CompositionRevision, newest: int) -> None:
        if revision.number < newest:
            body = {"spec": {"revision": newest + 1}}
            await self._plane.as_installer.patch_merge(REVISION, revision.name, body)

    async def _create(self, composition: Object, number: int) -> None:
        await self._plane.as_installer.create(REVISION, new_revision(composition, number))
        self._plane.recorder.record(composition, Event(NORMAL, "CreateRevision", "Created new revision"))
