"""Connection details: what a composed resource tells about how to reach it, passed on to the XR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crossply.functions.builtin.patch_and_transform.access import reader
from crossply.functions.builtin.patch_and_transform.failure import REASONS
from crossply.values import Object
from crossply.values.gojson import dumps
from crossply.values.goquote import utf8

Secret = Mapping[str, bytes]
Extract = Callable[[Object, Secret], dict[str, bytes]]
_Detail = Callable[[Object, Secret], bytes | None]


def make_extract(details: list[Object]) -> Extract | None:
    """Make a closure that collects details from an observed resource and its connection secret."""
    if not details:
        return None
    made = [(detail["name"], _detail(detail)) for detail in details]

    def extract(observed: Object, secret: Secret) -> dict[str, bytes]:
        collected = {}
        for name, detail in made:
            value = detail(observed, secret)
            if value is not None:
                collected[name] = value
        return collected

    return extract


def _detail(detail: Object) -> _Detail:
    if detail["type"] == "FromValue":
        value = utf8(detail["value"])
        return lambda _observed, _secret: value
    if detail["type"] == "FromConnectionSecretKey":
        key = detail["fromConnectionSecretKey"]
        return lambda _observed, secret: secret.get(key)
    return _from_field(detail["fromFieldPath"])


def _from_field(path: str) -> _Detail:
    read = reader(path)

    def detail(observed: Object, _secret: Secret) -> bytes | None:
        # Whatever is in the way, the field may well be there later: that is not worth a complaint.
        try:
            value: Any = read(observed)
            return utf8(value if type(value) is str else dumps(value))
        except REASONS:
            return None

    return detail
