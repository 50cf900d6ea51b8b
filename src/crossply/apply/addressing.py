"""Whether an object that was applied or written belongs to the address it was sent to."""

from __future__ import annotations

from crossply.apply.errors import BadApplyRequest
from crossply.values import Object


def at_address(object_: Object, name: str, namespace: str) -> Object:
    """Return an object in the namespace of its address; raise BadApplyRequest when it names another place.

    `namespace` is empty for kinds without namespaces.
    """
    metadata = object_.get("metadata") or {}
    mine = metadata.get("namespace") or ""
    if mine and namespace and mine != namespace:
        raise BadApplyRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    own_name = metadata.get("name") or ""
    if not own_name:
        why = "name must be provided"
        raise BadApplyRequest(f"the name of the object ({name} based on URL) was undeterminable: {why}")
    if own_name != name:
        raise BadApplyRequest(
            f"the name of the object ({own_name}) does not match the name on the URL ({name})"
        )
    if mine == namespace:
        return object_
    placed = {key: value for key, value in metadata.items() if key != "namespace"}
    return {**object_, "metadata": {**placed, "namespace": namespace} if namespace else placed}
