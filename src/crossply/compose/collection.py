"""Which composed resources are to go.

Only after a whole pipeline run, only what the composite resource controls, and never what somebody else
controls.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from crossply.compose.errors import CollectionRefused
from crossply.compose.messages import Snapshot
from crossply.compose.metadata import controller_of, text_in
from crossply.compose.observed import Observed


class Deletion(NamedTuple):
    """A resource to delete, and why."""

    name: str
    snapshot: Snapshot
    reason: str


def collect(observed: Mapping[str, Observed], desired: Collection[str], uid: str) -> tuple[Deletion, ...]:
    """What exists, is ours, and is no longer desired."""
    deletions = []
    for name in sorted(observed):
        if name in desired:
            continue
        snapshot = observed[name].snapshot
        controller = controller_of(snapshot.object)
        if controller is None:
            continue
        if controller.get("uid") != uid:
            raise CollectionRefused(
                "cannot garbage collect composed resources that are no longer desired: refusing to delete "
                f'composed resource "{name}" that is controlled by {text_in(controller, "kind")} '
                f'"{text_in(controller, "name")}"'
            )
        deletions.append(Deletion(name, snapshot, "no function of the pipeline desires it any more"))
    return tuple(deletions)
