"""The defaults of a Composition's spec, and how a Composition without a pipeline becomes one.

Crossplane 1.x defaulted `mode` to `Resources`, Crossplane 2 defaults it to `Pipeline`. So the other fields
decide: a Composition with resource templates or container functions is in mode `Resources`, any other in mode
`Pipeline`.

Templates, also those of the first design's `to`, become the input of one built-in first step, so that the
engine knows pipelines only. The input keeps the native field spelling, because native patching differs from
the function that succeeded it: integers stay integers, merge options instead of policies, templates may be
anonymous.
"""

from __future__ import annotations

from crossply.kinds.fields import Fields
from crossply.values import Object

PIPELINE = "Pipeline"
RESOURCES = "Resources"
TEMPLATE_FIELDS = ("resources", "to", "functions")
"""Fields of a spec that only mode `Resources` has; `to` is the first design's name for `resources`."""


def composition_mode(spec: Object) -> str:
    """The mode of the spec of a Composition or CompositionRevision, as written or else by its fields."""
    written = spec.get("mode")
    if written:
        return str(written)
    templates = [spec[field] for field in TEMPLATE_FIELDS if spec.get(field) is not None]
    # An empty list of templates says nothing beside a pipeline.
    return RESOURCES if any(templates) or (templates and not spec.get("pipeline")) else PIPELINE


def spec_with_defaults(spec: Object, written: Object) -> Object:
    """The spec with its mode, and with the first design's `from` also as `compositeTypeRef`.

    `spec` is what a Go type holds of `written`, which also has the empty lists.
    """
    filled = {**spec, "mode": composition_mode(written)}
    type_ref = spec.get("compositeTypeRef")
    if spec.get("from") and not (isinstance(type_ref, dict) and any(type_ref.values())):
        filled["compositeTypeRef"] = spec["from"]
    return filled


def with_defaults(obj: Object, written: Object) -> Object:
    """A Composition with the defaults of its spec (see `spec_with_defaults`); any other object as it is."""
    if obj.get("kind") != "Composition":
        return obj
    return {**obj, "spec": spec_with_defaults(obj["spec"], written.get("spec") or {})}


NATIVE_FUNCTION = "crossply-native-patch-and-transform"
"""The built-in function that renders native resource templates."""

NATIVE_STEP = "resources"
"""The name of the step that runs it."""

ENVIRONMENT_REFERENCES = "crossply.dev/environment-config-refs"
"""The annotation of an XR with the names of the EnvironmentConfigs that were selected for it."""

_API_VERSION = "crossply.dev/v1alpha1"
_KIND = "NativeResources"


def native_input(spec: Fields) -> Object | None:
    """The input of the native step, or None when the Composition has no resource templates."""
    templates = _templates(spec)
    if templates is None and not spec.has("environment"):
        return None
    function_input: Object = {
        "apiVersion": _API_VERSION,
        "kind": _KIND,
        "patchSets": _objects(spec, "patchSets"),
        "resources": templates or [],
    }
    environment = spec.optional_dict("environment")
    if environment is not None:
        function_input["environment"] = environment
    return function_input


def _templates(spec: Fields) -> list[Object] | None:
    """The templates of either spelling; an entry of `to` has the fields of an entry of `resources`."""
    for key in ("resources", "to"):
        if spec.has(key):
            return _objects(spec, key)
    return None


def _objects(spec: Fields, key: str) -> list[Object]:
    return [entry.as_dict() for entry in spec.objects(key)]
