"""What the manifests make of the desired state.

Most manifests are composed resources. One of the XR's own kind without a resource name is its status; those
of the meta group say something to the engine (`meta_kinds`).
"""

from __future__ import annotations

from crossply.compose.messages import (
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
from crossply.compose.metadata import text_in
from crossply.functions.builtin.go_templating.go_reading import Unreadable, read_map
from crossply.functions.builtin.go_templating.manifests import RESOURCE_NAME, annotations_of
from crossply.values import Object
from crossply.values.goquote import quote
from crossply.values.merge import MergeOptions, merge

READY = "gotemplating.fn.crossplane.io/ready"

_READY = {"True": READY_TRUE, "False": READY_FALSE, "Unspecified": READY_UNSPECIFIED}
_OVERRIDE = MergeOptions(keep_map_values=False)
_NOTHING = Resource({})


class OutcomeError(Exception):
    """A manifest asks for what cannot be. It never leaves the function: it becomes a fatal result."""


class Outcome:
    """The answer while it is being made."""

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
        given = request.desired.composite or _NOTHING
        self.request = request
        self.xr: Object = given.object
        # What earlier steps said about the readiness of the XR is not passed on: so it is published.
        self.ready = READY_UNSPECIFIED
        self.details = dict(given.connection_details)
        self.resources = {name: _wanted(each) for name, each in request.desired.resources.items()}
        self.context = request.context
        self.conditions: list[Condition] = []
        self.selectors: dict[str, ResourceSelector] = {}
        self.extra_selectors: dict[str, ResourceSelector] = {}
        """Those that engines which only know the old field can serve: without a namespace."""

    @property
    def context_so_far(self) -> Object:
        """What a manifest's context is merged with.

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
        """Take a manifest that is not of the meta group."""
        annotations = annotations_of(manifest)
        ready = ready_of(annotations)
        if self.is_status(manifest):
            self._merge_status(manifest)
            self.ready = ready if READY in annotations else self.ready
            return
        name = annotations.get(RESOURCE_NAME)
        if name is None:
            kind = quote(manifest["kind"])
            raise OutcomeError(f"{kind} template is missing required {quote(RESOURCE_NAME)} annotation")
        self.resources[name] = Resource(_without_marks(manifest), {}, ready)

    def _merge_status(self, manifest: Object) -> None:
        existing = _map_at(self.xr, "status", "cannot get desired composite status")
        added = _map_at(manifest, "status", "cannot get templated composite status")
        if "status" not in self.xr and "status" not in manifest:
            return
        is_null = existing is None and added is None and "status" in self.xr and "status" in manifest
        status = None if is_null else merge(existing or {}, added or {}, _OVERRIDE)
        self.xr = {**self.xr, "status": status}

    def desired(self) -> State:
        """The desired state."""
        return State(Resource(self.xr, self.details, self.ready), self.resources)

    def requirements(self) -> Requirements | None:
        """What the engine should fetch; engines that know only the old field find there what it can say."""
        if not self.selectors:
            return None
        return Requirements(resources=self.selectors, extra_resources=self.extra_selectors)


def _wanted(resource: Resource) -> Resource:
    """A resource that an earlier step wants; connection details are none of its business and are dropped."""
    ready = resource.ready if resource.ready in (READY_TRUE, READY_FALSE) else READY_UNSPECIFIED
    if resource.connection_details or ready != resource.ready:
        return resource._replace(connection_details={}, ready=ready)
    return resource


def ready_of(annotations: Object) -> int:
    """What a manifest says about the readiness of what it describes."""
    value = annotations.get(READY, "Unspecified")
    if value not in _READY:
        raise OutcomeError(
            f"invalid function input: invalid {quote(READY)} annotation value {quote(value)}: "
            "must be True, False, or Unspecified"
        )
    return _READY[value]


def _without_marks(manifest: Object) -> Object:
    """The manifest without the annotations that were for this function."""
    metadata = manifest["metadata"]
    kept = {key: value for key, value in metadata["annotations"].items() if key not in (RESOURCE_NAME, READY)}
    return {**manifest, "metadata": {**metadata, "annotations": kept}}


def _map_at(obj: Object, key: str, story: str) -> Object | None:
    try:
        return read_map(obj.get(key), "map[string]interface {}")
    except Unreadable as problem:
        raise OutcomeError(f"{story}: {problem}") from None
