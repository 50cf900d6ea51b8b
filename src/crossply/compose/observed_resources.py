"""Which existing objects count as the composed resources of a composite resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crossply.compose.errors import ObservedError
from crossply.compose.function_messages import Resource, Snapshot, State
from crossply.compose.object_metadata import (
    RESOURCE_NAME_ANNOTATION,
    annotations_of,
    is_controlled_by_another,
)


class Observed(NamedTuple):
    """A composed resource that exists, and the data of its connection Secret."""

    snapshot: Snapshot
    connection_details: Mapping[str, bytes] = {}


def observe(resources: Iterable[Observed], uid: str) -> dict[str, Observed]:
    """The found objects by their name in the pipeline.

    What another object controls is left out: it is not read, changed or deleted. What no object
    controls is kept, so that it can be adopted.
    """
    known = {}
    for observed in resources:
        obj = observed.snapshot.object
        if is_controlled_by_another(obj, uid):
            continue
        name = annotations_of(obj).get(RESOURCE_NAME_ANNOTATION)
        if not name:
            raise ObservedError(
                f'encountered composed resource without required "{RESOURCE_NAME_ANNOTATION}" annotation'
            )
        known[name] = observed
    return known


def as_state(xr: Snapshot, details: Mapping[str, bytes], observed: Mapping[str, Observed]) -> State:
    """The observed state that every function of the pipeline is shown."""
    resources = {name: Resource.of(o.snapshot, o.connection_details) for name, o in observed.items()}
    return State(Resource.of(xr, details), resources)
