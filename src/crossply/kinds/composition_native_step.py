"""The native step: resource templates as the input of one built-in function, which is called first.

It stands for the templates of mode `Resources`, also those of the first design's `to`, so that the engine
knows pipelines only. The input keeps the native field spelling, because native patching differs from
the function that succeeded it: integers stay integers, merge options instead of policies, templates may be
anonymous.
"""

from __future__ import annotations

from crossply.kinds.fields import Fields
from crossply.values import Object

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
