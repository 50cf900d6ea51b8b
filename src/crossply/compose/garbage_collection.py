"""Which composed resources are to go.

Only after a whole pipeline run, only what the composite resource controls, and never what another object
controls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crossply.compose.errors import CollectionRefused
from crossply.compose.function_messages import Resource, Snapshot
from crossply.compose.object_metadata import controller_of, group_kind, text_in
from crossply.compose.observed_resources import Observed

_UNDESIRED = "no function of the pipeline desires it any more"


class Deletion(NamedTuple):
    """A resource to delete, and why."""

    name: str
    snapshot: Snapshot
    reason: str


def collect(
    observed: Mapping[str, Observed], desired: Mapping[str, Resource], uid: str
) -> tuple[Deletion, ...]:
    """What exists, is ours, and is no longer desired: not at all, or as an object of another kind."""
    deletions = []
    for name in sorted(observed):
        snapshot = observed[name].snapshot
        if name in desired and group_kind(desired[name].object) == group_kind(snapshot.object):
            continue
        controller = controller_of(snapshot.object)
        if controller is None:
            continue
        if controller.get("uid") != uid:
            raise CollectionRefused(
                "cannot garbage collect composed resources that are no longer desired: refusing to delete "
                f'composed resource "{name}" that is controlled by {text_in(controller, "kind")} '
                f'"{text_in(controller, "name")}"'
            )
        reason = "it is to be of another kind" if name in desired else _UNDESIRED
        deletions.append(Deletion(name, snapshot, reason))
    return tuple(deletions)
