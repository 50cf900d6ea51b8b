"""What the dashboard keeps of an object that it has many of: identity, references and conditions. Pure.

Everything else is read from the API server when the object is opened.
"""

from __future__ import annotations

from crossply.compose.object_metadata import PAUSED_ANNOTATION, RESOURCE_NAME_ANNOTATION, metadata_of
from crossply.values import Object

_METADATA = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "finalizers",
    "ownerReferences",
)
_SPEC = (
    "crossplane",
    "resourceRefs",
    "resourceRef",
    "claimRef",
    "compositionRef",
    "compositionRevisionRef",
    "infrastructure",
    "application",
)
_ANNOTATIONS = (RESOURCE_NAME_ANNOTATION, PAUSED_ANNOTATION)


def reduced(obj: Object) -> Object:
    """The object with as much as rows and trees are made of."""
    metadata = metadata_of(obj)
    reduced = {key: metadata[key] for key in _METADATA if key in metadata}
    annotations = metadata.get("annotations")
    if type(annotations) is dict:
        reduced["annotations"] = {key: annotations[key] for key in _ANNOTATIONS if key in annotations}
    spec, status = obj.get("spec"), obj.get("status")
    result: Object = {"apiVersion": obj.get("apiVersion"), "kind": obj.get("kind"), "metadata": reduced}
    if type(spec) is dict:
        result["spec"] = {key: spec[key] for key in _SPEC if key in spec}
    if type(status) is dict and "conditions" in status:
        result["status"] = {"conditions": status["conditions"]}
    return result
