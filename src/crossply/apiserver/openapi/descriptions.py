"""What `kubectl explain` says of the fields that every object has."""

from __future__ import annotations

from crossply.values import Object

API_VERSION = "APIVersion defines which version of its group this object is written in, such as apps/v1."
KIND = "Kind names the type of this object, such as ConfigMap. It cannot be changed."
METADATA = "Standard object's metadata: its name, its labels, and what the server keeps about it."

_OBJECT_META = {
    "annotations": "Annotations are texts that tools keep with the object. Nothing is selected by them.",
    "creationTimestamp": "CreationTimestamp is a timestamp of when the server made the object.",
    "deletionGracePeriodSeconds": "How long the object may take to end once its deletion was asked for.",
    "deletionTimestamp": "DeletionTimestamp is a timestamp of when the deletion of the object was asked for. "
    "The object stays until its finalizers are gone.",
    "finalizers": "Who still has something to do before a deleted object may go.",
    "generateName": "The beginning of a name that the server completes, for an object made without a name.",
    "generation": "How often what the object wishes for has changed.",
    "labels": "Labels are short texts by which objects are selected.",
    "managedFields": "Which manager wrote which field, for server-side apply.",
    "name": "The name of the object. It is the only one of its kind with it in its namespace, and keeps it.",
    "namespace": "The namespace the object is in; empty for kinds that are in none.",
    "ownerReferences": "The objects this one depends on. When all of them are gone, it is deleted.",
    "resourceVersion": "The version of the object, as the server counts. It changes with every write.",
    "selfLink": "Not used any more.",
    "uid": "What tells the object from others of the same name, earlier and later.",
}


def described_metadata(schema: Object) -> Object:
    """The schema of metadata with a text for each field."""
    fields = {
        name: _described(field, _OBJECT_META.get(name, "")) for name, field in schema["properties"].items()
    }
    return {"description": METADATA, **schema, "properties": fields}


def _described(field: Object, text: str) -> Object:
    # What stands beside a reference is not read, so the reference goes one level down.
    held = {"allOf": [field]} if "$ref" in field else field
    return {"description": text, **held} if text else field
