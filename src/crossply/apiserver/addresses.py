"""Whether the object in a body is the one that the URL names."""

from __future__ import annotations

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import bad_request
from crossply.values import Object


def check_address(call: Call, obj: Object) -> None:
    """Refuse an object of another name or namespace; a namespace that is left out is filled in."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    if namespace and call.namespace and namespace != call.namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    name = metadata.get("name", "")
    if not name:
        raise bad_request(
            f"the name of the object ({call.name} based on URL) was undeterminable: name must be provided"
        )
    if name != call.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    if call.namespace:
        metadata["namespace"] = call.namespace
    else:
        metadata.pop("namespace", None)
