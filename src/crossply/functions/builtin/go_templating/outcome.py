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
from crossply.functions.builtin.go_templating.manifests import RESOURCE_NAME, annotations_of
from crossply.values import Object
from crossply.values.goquote import quote
from crossply.values.merge import MergeOptions, merge

READY = "gotemplating.fn.crossplane.io/ready"

_READY = {"True": READY_TRUE, "False": READY_FALSE, "Unspecified": READY_UNSPECIFIED}
_OVERRIDE = MergeOptions(keep_map_values=False)
_JSON_KINDS = {str: "string", bool: "bool", float: "number", list: "array"}
_NOTHING = Resource({})


class OutcomeError(Exception):
    """A manifest asks for what cannot be. It never leaves the function: it becomes a fatal result."""


class Outcome:
    """The answer while it is being made."""

    __slots__ = ("conditions", "context", "details", "ready", "request", "resources", "selectors", "xr")

    def __init__(self, request: Request) -> None:
        given = request.desired.composite or _NOTHING
        self.request = request
        self.xr: Object = given.object
        self.ready = given.ready
        self.details = dict(given.connection_details)
        self.resources = {name: _wanted(each) for name, each in request.desired.resources.items()}
        self.context = request.context
        self.conditions: list[Condition] = []
        self.selectors: dict[str, ResourceSelector] = {}

    def add(self, manifest: Object) -> None:
        """Take a manifest that is not of the meta group."""
        annotations = annotations_of(manifest)
        name = annotations.get(RESOURCE_NAME)
        if name is None and _is_same_kind(manifest, self.request):
            self._merge_status(manifest)
            if READY in annotations:
                self.ready = ready_of(annotations)
            return
        ready = ready_of(annotations)
        if name is None:
            kind = quote(manifest["kind"])
            raise OutcomeError(f"{kind} template is missing required {quote(RESOURCE_NAME)} annotation")
        self.resources[name] = Resource(_without_marks(manifest), {}, ready)

    def _merge_status(self, manifest: Object) -> None:
        existing = _map_at(self.xr, "status", "cannot get desired composite status")
        added = _map_at(manifest, "status", "cannot get templated composite status")
        self.xr = {**self.xr, "status": merge(existing, added, _OVERRIDE)}

    def desired(self) -> State:
        """The desired state."""
        return State(Resource(self.xr, self.details, self.ready), self.resources)

    def requirements(self) -> Requirements | None:
        """What the engine should fetch; engines that know only the old field find there what it can say."""
        if not self.selectors:
            return None
        old = {name: each for name, each in self.selectors.items() if not each.namespace}
        return Requirements(resources=self.selectors, extra_resources=old)


def _wanted(resource: Resource) -> Resource:
    """A resource that an earlier step wants; connection details are none of its business and are dropped."""
    return resource._replace(connection_details={}) if resource.connection_details else resource


def ready_of(annotations: Object) -> int:
    """What a manifest says about the readiness of what it describes."""
    value = annotations.get(READY, "Unspecified")
    if value not in _READY:
        raise OutcomeError(
            f"invalid function input: invalid {quote(READY)} annotation value {quote(value)}: "
            "must be True, False, or Unspecified"
        )
    return _READY[value]


def _is_same_kind(manifest: Object, request: Request) -> bool:
    xr = (request.observed.composite or _NOTHING).object
    return all((manifest.get(key) or "") == (xr.get(key) or "") for key in ("apiVersion", "kind"))


def _without_marks(manifest: Object) -> Object:
    """The manifest without the annotations that were for this function."""
    metadata = manifest["metadata"]
    kept = {key: value for key, value in metadata["annotations"].items() if key not in (RESOURCE_NAME, READY)}
    return {**manifest, "metadata": {**metadata, "annotations": kept}}


def _map_at(obj: Object, key: str, story: str) -> Object:
    value = obj.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        kind = _JSON_KINDS[type(value)]
        raise OutcomeError(
            f"{story}: json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        )
    return value
