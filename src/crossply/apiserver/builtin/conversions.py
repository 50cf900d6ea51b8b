"""From one version of a built-in kind to another. Most kinds have but one."""

from __future__ import annotations

from crossply.apiserver.builtin.autoscaler_conversion import to_v1, to_v2
from crossply.apiserver.builtin.event_conversion import to_core, to_events
from crossply.apiserver.registry.resources import Resource
from crossply.values import Object


def converted(resource: Resource, obj: Object, version: str) -> Object:
    """The object as a resource and version has it; the same object if it is already."""
    kind = resource.names.kind
    if kind == "Event":
        return to_events(obj) if resource.group else to_core(obj)
    if kind == "HorizontalPodAutoscaler":
        return to_v1(obj) if version == "v1" else to_v2(obj)
    return obj
