"""Names and kinds of objects, read and written as Kubernetes does: what is not there is empty."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.patch_and_transform.failure import Failure
from crossply.values import Object
from crossply.values.gojson import dumps


def text_field(obj: Object, name: str) -> str:
    """A text at the top of an object, empty when there is none."""
    value = obj.get(name)
    return value if type(value) is str else ""


def metadata_text(obj: Object, name: str) -> str:
    """A text of an object's metadata, empty when there is none."""
    metadata = obj.get("metadata")
    return text_field(metadata, name) if type(metadata) is dict else ""


def set_metadata_text(obj: Object, name: str, value: str) -> None:
    """Set a text of an object's metadata; an empty one is removed."""
    metadata: Any = obj.get("metadata")
    if type(metadata) is dict:
        if value:
            metadata[name] = value
        else:
            metadata.pop(name, None)
    elif value and "metadata" not in obj:
        obj["metadata"] = {name: value}


def adopt(desired: Object, observed: Object) -> None:
    """Keep the name and the namespace of a resource that exists."""
    metadata = observed.get("metadata")
    if type(metadata) is not dict:
        metadata = {}
    for field in ("namespace", "name"):
        value = metadata.get(field)
        set_metadata_text(desired, field, value if type(value) is str else "")


def has_kind(obj: Object) -> bool:
    """Tell whether an object says what it is; an apiVersion that cannot be one spoils its kind too."""
    kind = obj.get("kind")
    return type(kind) is str and kind != "" and text_field(obj, "apiVersion").count("/") < 2


def missing_kind(written: str) -> Failure:
    """The complaint about an object without a kind, as it would be written in JSON."""
    return Failure(f"Object 'Kind' is missing in '{written}'")


def require_kind(obj: Object) -> None:
    """Raise Failure when a patch took an object's kind away."""
    if not has_kind(obj):
        raise missing_kind(dumps(obj))
