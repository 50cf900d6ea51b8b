"""Pipelines whose functions can compose: what no function says otherwise about is valid.

A function that is not installed cannot be checked. Its steps fail when they are run, and are reported there.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from crossply.compose.conditions import SYNCED, with_conditions
from crossply.compose.events import WARNING, Event, StatusCondition
from crossply.control.controller_context import Plane
from crossply.control.definitions.definition_conditions import VALID_PIPELINE
from crossply.control.kinds import REVISION
from crossply.kinds.composition_revision import COMPOSITION_NAME, parse_pipeline
from crossply.kinds.fields import KindError
from crossply.values import Object

COMPOSITION_CAPABILITY = "composition"
CHECK = "CheckCapabilities"
BY_FUNCTION = "function"
"""The index that finds CompositionRevisions by the functions of their steps."""


class PipelineReconciler:
    """Marks every CompositionRevision whose pipeline can be run."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.revisions = plane.informers.acquire(REVISION)
        self.revisions.add_index(BY_FUNCTION, _functions)

    async def reconcile(self, name: str) -> None:
        """Look at one CompositionRevision."""
        data = self.revisions.get("", name)
        if data is not None:
            self.revisions.record_write(await mark(self._plane, orjson.loads(data)))

    def calling(self, function: str) -> list[str]:
        """The CompositionRevisions that call a function."""
        return [name for _, name in self.revisions.keys_by(BY_FUNCTION, function)]


async def mark_all(plane: Plane, composition: str) -> None:
    """Look at all revisions of a Composition."""
    listed = await plane.as_controller.list(REVISION, label_selector=f"{COMPOSITION_NAME}={composition}")
    for data in listed.items:
        await mark(plane, orjson.loads(data))


async def mark(plane: Plane, revision: Object) -> Object:
    """Say of a CompositionRevision whether its pipeline is valid; the revision as it is then."""
    condition = _condition(plane, revision)
    if condition.status != "True":
        plane.recorder.record(revision, Event(WARNING, CHECK, condition.message))
    marked = with_conditions(revision, (SYNCED, condition), plane.now())
    if marked["status"] == revision.get("status"):
        return revision
    return await plane.as_installer.update_status(REVISION, marked)


def _condition(plane: Plane, revision: Object) -> StatusCondition:
    try:
        steps = parse_pipeline(revision).steps
    except KindError as problem:
        return StatusCondition(VALID_PIPELINE.type, "False", "UnreadablePipeline", str(problem))
    missing = plane.functions.missing_capabilities(steps, COMPOSITION_CAPABILITY)
    if not missing:
        return VALID_PIPELINE
    return StatusCondition(VALID_PIPELINE.type, "False", "MissingCapabilities", missing)


def _functions(revision: Object) -> Iterable[str]:
    steps = (revision.get("spec") or {}).get("pipeline") or ()
    return {str((step.get("functionRef") or {}).get("name") or "") for step in steps}
