"""The response so far: what the objects of a program add to the request's desired state."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import READY_UNSPECIFIED, Request, Resource, ResourceSelector, State
from crossply.compose.object_metadata import text_in
from crossply.functions.builtin.kcl.options import READY, desired_composite
from crossply.values import Object
from crossply.values.goquote import quote

META_VERSION = "meta.krm.kcl.dev/v1alpha1"
"""The version of objects that are instructions for the engine."""

READY_ANNOTATION = "krm.kcl.dev/ready"
NAME_ANNOTATION = "krm.kcl.dev/composition-resource-name"

_READY_VALUES = {name: value for value, name in READY.items()}
_NOTHING = Resource({})


class OutputRefused(Exception):
    """An object of the program cannot be used. It becomes a fatal result."""


class Outcome:
    """The desired state, and what goes with it."""

    __slots__ = (
        "conditions",
        "context",
        "details",
        "events",
        "extra_selectors",
        "observed_xr",
        "resources",
        "selectors",
        "xr",
    )

    def __init__(self, request: Request) -> None:
        self.observed_xr = (request.observed.composite or _NOTHING).object
        self.xr = desired_composite(request)
        self.details = dict((request.desired.composite or _NOTHING).connection_details)
        self.resources = {name: _passed_on(resource) for name, resource in request.desired.resources.items()}
        self.extra_selectors: dict[str, ResourceSelector] = {}
        self.selectors: dict[str, ResourceSelector] = {}
        self.conditions: list[Object] = []
        self.events: list[Object] = []
        self.context: Object = {}

    def desired(self) -> State:
        return State(Resource(self.xr, self.details), self.resources)


def _passed_on(resource: Resource) -> Resource:
    """A resource of an earlier step, without its connection details, which only observed resources have."""
    ready = resource.ready if resource.ready in READY else READY_UNSPECIFIED
    if resource.connection_details or ready != resource.ready:
        return resource._replace(connection_details={}, ready=ready)
    return resource


def annotations_of(obj: Object) -> dict[str, str] | None:
    """The annotations of an object; None unless all of them are strings."""
    metadata = obj.get("metadata")
    annotations: Any = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(annotations, dict):
        return None
    return annotations if all(isinstance(value, str) for value in annotations.values()) else None


def take_annotation(obj: Object, key: str) -> tuple[str | None, Object]:
    """The value of an annotation, and the object without it."""
    annotations = annotations_of(obj)
    if annotations is None or key not in annotations:
        return None, obj
    remaining = {name: value for name, value in annotations.items() if name != key}
    return annotations[key], {**obj, "metadata": {**obj["metadata"], "annotations": remaining}}


def take_ready(resource: Resource) -> Resource:
    """The resource with the readiness of its annotation, and without the annotation."""
    value, obj = take_annotation(resource.object, READY_ANNOTATION)
    if value is None:
        return resource
    if value not in _READY_VALUES:
        raise OutputRefused(
            f"invalid function input: invalid {quote(READY_ANNOTATION)} annotation value {quote(value)}: "
            "must be True, False, or Unspecified"
        )
    return Resource(obj, {}, _READY_VALUES[value])


def take_name(obj: Object) -> tuple[str, Object]:
    """The name of a composed resource in the pipeline, and the object without the annotation for it."""
    name, remaining = take_annotation(obj, NAME_ANNOTATION)
    metadata = obj.get("metadata")
    own_name = text_in(metadata, "name") if isinstance(metadata, dict) else ""
    return own_name if name is None else name, remaining
