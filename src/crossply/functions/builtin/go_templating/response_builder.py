"""Builds the response from manifests.

Most manifests are composed resources. One of the XR's kind without a resource name is its status; those of
the meta group are instructions for the engine (see `meta_kinds`).
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    READY_UNSPECIFIED,
    Condition,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    State,
)
from crossply.compose.object_metadata import text_in
from crossply.functions.builtin.go_struct_decoder import StructError, read_map
from crossply.functions.builtin.go_templating.manifests import RESOURCE_NAME, annotations_of
from crossply.values import Object
from crossply.values.goquote import quote
from crossply.values.merge import MergeOptions, merge

READY = "gotemplating.fn.crossplane.io/ready"

_READY = {"True": READY_TRUE, "False": READY_FALSE, "Unspecified": READY_UNSPECIFIED}
_OVERRIDE = MergeOptions(keep_map_values=False)
_NOTHING = Resource({})


class ManifestRefused(Exception):
    """A manifest is invalid. It never leaves the function: it becomes a fatal result."""


class ResponseBuilder:
    """The response so far."""

    __slots__ = (
        "conditions",
        "context",
        "details",
        "extra_selectors",
        "ready",
        "request",
        "resources",
        "selectors",
        "xr",
    )

    def __init__(self, request: Request) -> None:
        composite = request.desired.composite or _NOTHING
        self.request = request
        self.xr: Object = composite.object
        # The published function does not pass on the readiness that earlier steps set.
        self.ready = READY_UNSPECIFIED
        self.details = dict(composite.connection_details)
        self.resources = {name: _passed_on(resource) for name, resource in request.desired.resources.items()}
        self.context = request.context
        self.conditions: list[Condition] = []
        self.selectors: dict[str, ResourceSelector] = {}
        self.extra_selectors: dict[str, ResourceSelector] = {}
        """Selectors without a namespace, for engines that only know the old field."""

    @property
    def context_so_far(self) -> Object:
        """The context that a manifest's context is merged into.

        The published function sees its own additions only when the request came with a context.
        """
        return (self.context or {}) if self.request.context else {}

    def is_status(self, manifest: Object) -> bool:
        """Whether a manifest is the status of the XR."""
        if RESOURCE_NAME in annotations_of(manifest):
            return False
        xr = (self.request.observed.composite or _NOTHING).object
        return all(text_in(manifest, key) == text_in(xr, key) for key in ("apiVersion", "kind"))

    def add(self, manifest: Object) -> None:
        """Add a manifest that is not of the meta group."""
        annotations = annotations_of(manifest)
        ready = ready_of(annotations)
        if self.is_status(manifest):
            self._merge_status(manifest)
            self.ready = ready if READY in annotations else self.ready
            return
        name = annotations.get(RESOURCE_NAME)
        if name is None:
            kind = quote(manifest["kind"])
            raise ManifestRefused(f"{kind} template is missing required {quote(RESOURCE_NAME)} annotation")
        self.resources[name] = Resource(without_own_annotations(manifest), {}, ready)

    def _merge_status(self, manifest: Object) -> None:
        existing = _map_at(self.xr, "status", "cannot get desired composite status")
        added = _map_at(manifest, "status", "cannot get templated composite status")
        if "status" not in self.xr and "status" not in manifest:
            return
        is_null = existing is None and added is None and "status" in self.xr and "status" in manifest
        status = None if is_null else merge(existing or {}, added or {}, _OVERRIDE)
        self.xr = {**self.xr, "status": status}

    def desired(self) -> State:
        return State(Resource(self.xr, self.details, self.ready), self.resources)

    def requirements(self) -> Requirements | None:
        """Requirements for the engine, in the new and the old field."""
        if not self.selectors:
            return None
        return Requirements(resources=self.selectors, extra_resources=self.extra_selectors)


def _passed_on(resource: Resource) -> Resource:
    """A resource of an earlier step, without its connection details, which only observed resources have."""
    ready = resource.ready if resource.ready in (READY_TRUE, READY_FALSE) else READY_UNSPECIFIED
    if resource.connection_details or ready != resource.ready:
        return resource._replace(connection_details={}, ready=ready)
    return resource


def ready_of(annotations: Object) -> int:
    """The readiness that the annotation of a manifest sets."""
    value = annotations.get(READY, "Unspecified")
    if value not in _READY:
        raise ManifestRefused(
            f"invalid function input: invalid {quote(READY)} annotation value {quote(value)}: "
            "must be True, False, or Unspecified"
        )
    return _READY[value]


def without_own_annotations(manifest: Object) -> Object:
    """The manifest without the annotations for this function."""
    metadata = manifest["metadata"]
    remaining = {
        key: value for key, value in metadata["annotations"].items() if key not in (RESOURCE_NAME, READY)
    }
    return {**manifest, "metadata": {**metadata, "annotations": remaining}}


def _map_at(obj: Object, key: str, context: str) -> Object | None:
    try:
        return read_map(obj.get(key), "map[string]interface {}")
    except StructError as error:
        raise ManifestRefused(f"{context}: {error}") from None


CONTEXT_KEY = "apiextensions.crossplane.io/extra-resources"


def with_extra_resources(outcome: ResponseBuilder) -> Object | None:
    """The context with the required resources of this step added to those of earlier steps."""
    for groups in (outcome.request.extra_resources, outcome.request.required_resources):
        if groups:
            before = outcome.context_so_far.get(CONTEXT_KEY)
            merged = {**(before if isinstance(before, dict) else {}), **_shown(groups)}
            outcome.context = {**(outcome.context or {}), CONTEXT_KEY: merged}
    return outcome.context


def _shown(groups: Mapping[str, tuple[Resource, ...]]) -> Object:
    return {
        name: {"items": [_resource(resource) for resource in group]} if group else {}
        for name, group in groups.items()
    }


def _resource(resource: Resource) -> Object:
    shown: Object = {"resource": resource.object}
    if resource.connection_details:
        shown["connection_details"] = {
            name: b2a_base64(value, newline=False).decode()
            for name, value in resource.connection_details.items()
        }
    if resource.ready:
        shown["ready"] = float(resource.ready)
    return shown
