"""Go types with a JSON form of their own: quantities, times, IntOrString, raw JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.values.bounded_cache import cached_for_short_texts
from crossply.values.timestamps import format_timestamp, parse_timestamp


class Leaf(NamedTuple):
    """A type with its own JSON form, and how its zero is written."""

    read: Callable[[Any], Any]
    zero: Any


@cached_for_short_texts(1024)
def _canonical_quantity(text: str) -> str:
    from crossply.values import quantity

    try:
        return str(quantity.parse(text))
    except quantity.QuantityError:
        return text


def _quantity(value: Any) -> Any:
    if isinstance(value, str):
        return _canonical_quantity(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _canonical_quantity(repr(value))
    return value


def _time(value: Any) -> Any:
    if not isinstance(value, str) or (len(value) == 20 and value.endswith("Z")):
        return value
    time = parse_timestamp(value)
    return value if time is None else format_timestamp(time)


def _micro_time(value: Any) -> Any:
    time = parse_timestamp(value)
    return value if time is None else format_timestamp(time, "microseconds")


def _raw(value: Any) -> Any:
    return value


_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"

LEAVES: dict[str, Leaf] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": Leaf(_quantity, "0"),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": Leaf(_raw, 0),
    "io.k8s.apimachinery.pkg.runtime.RawExtension": Leaf(_raw, None),
    f"{_META}.Time": Leaf(_time, None),
    f"{_META}.MicroTime": Leaf(_micro_time, None),
    f"{_META}.FieldsV1": Leaf(_raw, None),
    f"{_EXTENSIONS}.JSON": Leaf(_raw, None),
    f"{_EXTENSIONS}.JSONSchemaPropsOrArray": Leaf(_raw, None),
    f"{_EXTENSIONS}.JSONSchemaPropsOrBool": Leaf(_raw, None),
    f"{_EXTENSIONS}.JSONSchemaPropsOrStringArray": Leaf(_raw, None),
    f"{_EXTENSIONS}.JSONSchemaProps": Leaf(_raw, None),
}
"""Types by the name of their definition. The schema of a CRD is kept as it is: `apiextensions` reads it."""
