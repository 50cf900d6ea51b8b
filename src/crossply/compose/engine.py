"""The engine: one run of a Composition for one composite resource.

`compose` is a generator without I/O, clock or randomness. It asks for function calls and for objects (see
`effects`) and ends in an `Outcome`: what to apply, what to delete, and what to report. Whatever drives it,
the `render` command or a controller, gets the same outcome for the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crossply.compose.composed_resources import Composed, build_composed, references_to
from crossply.compose.effects import Effects
from crossply.compose.events import Event, StatusCondition
from crossply.compose.function_messages import (
    CAPABILITIES,
    READY_FALSE,
    READY_TRUE,
    Requirements,
    Resource,
    ResourceRef,
    Snapshot,
)
from crossply.compose.garbage_collection import Deletion, collect
from crossply.compose.object_metadata import owner_from
from crossply.compose.observed_resources import Observed, as_state
from crossply.compose.pipeline import PipelineReport, run_pipeline
from crossply.compose.prepared_composition import PreparedComposition
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire


class Job(NamedTuple):
    """One composite resource, configured (see `composite_preparation`), and all that exists of it."""

    composite: Snapshot
    prepared_composition: PreparedComposition
    observed: Mapping[str, Observed]
    connection_details: Mapping[str, bytes] = {}
    context: Object = {}  # noqa: RUF012 - read only
    capabilities: tuple[int, ...] = CAPABILITIES
    """What functions are offered."""


class Outcome(NamedTuple):
    """What the run decided."""

    composed: tuple[Composed, ...]
    deletions: tuple[Deletion, ...]
    references: list[Object]
    composite: Object
    """What functions want on the composite resource; only its status counts."""
    composite_ready: bool | None
    """A function's own verdict; None leaves it to the composed resources."""
    connection_details: Mapping[str, bytes]
    context: Object | None
    ttl: int
    events: tuple[Event, ...]
    conditions: tuple[StatusCondition, ...]
    requirements: Mapping[str, Requirements]
    watched: tuple[ResourceRef, ...] = ()
    """The resources that functions want watched, without doubles and in a fixed order."""


def compose(job: Job, report: PipelineReport) -> Effects[Outcome]:
    """Run the pipeline and decide. `report` keeps what functions reported, also when the run fails."""
    xr = job.composite.object
    owner = owner_from(xr)
    state = as_state(job.composite, job.connection_details, job.observed)
    finished = yield from run_pipeline(
        job.prepared_composition.steps, state, job.context, report, capabilities=job.capabilities
    )
    desired = finished.desired
    composed = yield from build_composed(desired.resources, job.observed, owner, report.events)
    composite = desired.composite or Resource({})
    return Outcome(
        composed=composed,
        deletions=collect(job.observed, desired.resources, owner.uid),
        references=references_to(composed, namespaced=bool(owner.namespace)),
        composite=from_wire(composite.object),
        composite_ready={READY_TRUE: True, READY_FALSE: False}.get(composite.ready),
        connection_details=composite.connection_details,
        context=finished.context,
        ttl=report.ttl,
        events=tuple(report.events),
        conditions=tuple(report.conditions),
        requirements=report.requirements,
        watched=_watched(report.requirements),
    )


def _watched(requirements: Mapping[str, Requirements]) -> tuple[ResourceRef, ...]:
    refs = {ref for required in requirements.values() for ref in required.watch_resources}
    return tuple(sorted(refs, key=lambda ref: [field or "" for field in ref]))
