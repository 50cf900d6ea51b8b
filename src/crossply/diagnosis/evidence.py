"""Evidence for causes, beside the tree: events, Compositions, Functions and logs, all loaded before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crossply.compose.engine_field_paths import MODERN, Machinery, machinery_at
from crossply.compose.object_metadata import uid_of
from crossply.compose.ready_and_synced_conditions import INVALID_RESOURCES
from crossply.kinds.definition import Definition, ServiceAccount
from crossply.resource_tree.node import Node
from crossply.values import Object

REFUSED = "cannot apply composed resource "
"""Begins the event about a composed resource that the API server refuses."""
_REFERS_TO_EVENTS = ("Unsynced resources: ", INVALID_RESOURCES)


class Evidence(NamedTuple):
    """All of it. What may not be read is left empty."""

    events: Mapping[str, Sequence[Object]] = {}
    """Events by the UID of what they are about, the newest first."""
    definition: Definition | None = None
    compositions: Sequence[Object] = ()
    revisions: Sequence[Object] = ()
    """Of the Composition that the XR names."""
    knows_compositions: bool = True
    """Whether Compositions and their revisions could be read."""
    functions: Mapping[str, Object] = {}
    provider_configs: Sequence[Object] = ()
    """Of the API groups of what is at fault."""
    usages: Sequence[Object] = ()
    absent_account: ServiceAccount | None = None
    """The service account that the definition composes as, if there is none of its name."""
    logs: Mapping[str, Sequence[str]] = {}
    """The last lines that a package wrote, by `provider/NAME` or `function/NAME`."""

    has_whole_objects: bool = True
    """Whether the objects of the tree have all their fields, or only what the dashboard keeps of them."""

    def failures(self, node: Node) -> list[str]:
        """What is wrong with a resource now: what it reports, or its events where that only refers to them.

        Events outlive their cause, so they are ignored where a condition says more. The newest
        come first.
        """
        synced = node.condition("Synced")
        if synced.status == "True":
            return []
        if synced.status and not synced.message.startswith(_REFERS_TO_EVENTS):
            return [synced.message]
        messages = [
            str(event.get("message") or "")
            for event in self.events.get(uid_of(node.object), ())
            if event.get("type") == "Warning"
        ]
        if synced.status:
            messages = [message for message in messages if message.startswith(REFUSED)]
        return list(dict.fromkeys(messages))

    @property
    def machinery(self) -> Machinery:
        """Where the XR keeps its references."""
        return MODERN if self.definition is None else machinery_at(self.definition.machinery)

    def pipeline(self, xr: Object) -> list[Object]:
        """The steps of the revision that an XR uses, or else of its Composition."""
        names = [self.machinery.name_in(xr, key) for key in ("compositionRevisionRef", "compositionRef")]
        for name, objects in zip(names, (self.revisions, self.compositions), strict=True):
            for obj in objects:
                if name and obj["metadata"]["name"] == name:
                    steps = (obj.get("spec") or {}).get("pipeline")
                    return (
                        [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
                    )
        return []

    def function_of(self, xr: Object, step_name: str) -> str:
        """The Function that a step calls; empty where that is not known."""
        for step in self.pipeline(xr):
            if step.get("step") == step_name:
                return str((step.get("functionRef") or {}).get("name") or "")
        return ""
