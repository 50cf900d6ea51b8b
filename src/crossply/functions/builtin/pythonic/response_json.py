"""The response of a program as JSON, for the process that called it."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from crossply.compose.function_messages import SECOND
from crossply.functions.builtin.pythonic.message import Collection, Message
from crossply.functions.builtin.pythonic.value import Value, plain
from crossply.values import Object


def response_data(response: Message, before: Object) -> Object:
    """The response in protobuf's JSON, without the desired resources that are as in the request.

    `before` are the desired resources of the request. The names of those that are left out are beside it.
    """
    data: Object = {name: _data(item) for name, item in response._content.items()}
    desired = data.get("desired", {})
    resources = desired.get("resources", {})
    unchanged = [name for name, resource in resources.items() if before.get(name) == resource]
    changed = {name: resource for name, resource in resources.items() if name not in unchanged}
    data["desired"] = {**desired, "resources": changed}
    data["meta"] = _meta(data.get("meta", {}).get("ttl"))
    data["output"] = data.get("output") or None
    return {"response": data, "unchanged": unchanged}


def _data(item: Any) -> Any:
    if isinstance(item, Value):
        return plain(item)
    if isinstance(item, Collection):
        if isinstance(item._content, dict):
            return {name: _data(child) for name, child in item._content.items()}
        return [_data(child) for child in item._content]
    return b64encode(item).decode() if isinstance(item, bytes) else item


def _meta(ttl: Object | None) -> Object:
    if ttl is None:
        return {}
    total = int(ttl.get("seconds", 0)) * SECOND + int(ttl.get("nanos", 0))
    seconds, nanos = divmod(abs(total), SECOND)
    return {"ttl": f"{'-' if total < 0 else ''}{seconds}.{nanos:09d}s"}
