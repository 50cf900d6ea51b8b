"""The output of `render`: the composite resource, then composed resources, results and context."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

from crossply.compose.events import Event
from crossply.compose.in_memory_reconcile import NOW, Rendered
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire

_API = "render.crossplane.io/v1beta1"


def documents(rendered: Rendered, original: Object | None, *, results: bool, context: bool) -> list[Object]:
    """The documents in order. `original` is merged under the composite resource."""
    composite = rendered.composite
    if original is not None:
        composite = merge_over(original, composite)
    events = rendered.events if results else ()
    return in_order([composite, *rendered.composed], events, rendered.context if context else None)


def in_order(objects: Iterable[Object], events: Iterable[Event], context: Object | None) -> list[Object]:
    """Objects, then results, then the context if there is one."""
    shown = [*map(_at_rest, objects), *map(_result, events)]
    if context is not None:
        shown.append({"apiVersion": _API, "kind": "Context", "fields": from_wire(context)})
    return shown


def _result(event: Event) -> Object:
    return {
        "apiVersion": _API,
        "kind": "Result",
        "severity": event.type,
        "reason": event.reason,
        "message": event.message,
    }


def merge_over(base: Object, over: Object) -> Object:
    """The base with the values of `over` written over it, map by map; lists are replaced, not joined."""
    merged = dict(base)
    for key, value in over.items():
        existing = merged.get(key)
        if isinstance(existing, dict) and isinstance(value, dict):
            value = merge_over(existing, value)
        merged[key] = value
    return merged


def _at_rest(obj: Object) -> Object:
    """The object with the time of every condition made the same, so that output can be compared."""
    status = obj.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    if not isinstance(conditions, list):
        return obj
    still: list[Any] = [{**c, "lastTransitionTime": NOW} if isinstance(c, dict) else c for c in conditions]
    return {**obj, "status": {**obj["status"], "conditions": still}}


def write_yaml(shown: Iterable[Object], stream: TextIO) -> None:
    """A YAML stream, each document behind its `---`."""
    from crossply.values.yaml import dump_all

    stream.write(dump_all(shown))


def write_json(shown: Iterable[Object], stream: TextIO) -> None:
    """One List that kubectl reads."""
    import json

    listed = {"apiVersion": "v1", "kind": "List", "items": list(shown)}
    json.dump(listed, stream, indent=2, sort_keys=True, ensure_ascii=False)
    stream.write("\n")
