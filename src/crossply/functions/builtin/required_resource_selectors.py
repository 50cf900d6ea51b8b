"""Selecting and sorting required resources, for extra-resources and environment-configs.

Both require resources in one call and receive them in the next. The labels to match may come from fields of
the XR. Received resources are sorted and limited in number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crossply.functions.builtin.input_decoder import FieldType, array, struct, text, uint64
from crossply.values import Object
from crossply.values.field_path import PathError, PathNotFound, get, get_string
from crossply.values.go_type_names import go_type
from crossply.values.goquote import quote

DEFAULT_SORT_PATH = "metadata.name"


class SelectionError(Exception):
    """Resources cannot be selected. It never leaves a function: it becomes a fatal result."""


def selector_members(prefix: str) -> dict[str, FieldType]:
    """The fields of a selector; `prefix` starts the names of its Go types."""
    matcher = struct(
        f"v1beta1.{prefix}SelectorLabelMatcher",
        {
            "type": text(f"v1beta1.{prefix}SelectorLabelMatcherType"),
            "key": text(),
            "value": text(),
            "valueFromFieldPath": text(),
            "fromFieldPathPolicy": text("v1beta1.FromFieldPathPolicy"),
        },
    )
    return {
        "maxMatch": uint64,
        "minMatch": uint64,
        "sortByFieldPath": text(),
        "matchLabels": array(f"[]v1beta1.{prefix}SelectorLabelMatcher", matcher, {}),
    }


def literal_label(matcher: Object) -> str:
    """The label value of a matcher of type Value."""
    if "value" not in matcher:
        raise SelectionError("Value cannot be nil for type 'Value'")
    value: str = matcher["value"]
    return value


def label_from(source: Object, matcher: Object, source_name: str) -> str | None:
    """The label value at a field path of `source`; None when it is optional and missing."""
    path = matcher.get("valueFromFieldPath")
    if path is None:
        raise SelectionError(f"ValueFromFieldPath cannot be nil for type '{matcher_type(matcher)}'")
    try:
        return get_string(source, path)
    except PathError as error:
        if matcher.get("fromFieldPathPolicy") == "Optional":
            return None
        raise SelectionError(f"cannot get value from {source_name} {quote(path)}: {error}") from None


def matcher_type(matcher: Object) -> str:
    """The type of a matcher, with its default."""
    return matcher.get("type") or "FromCompositeFieldPath"


def is_optional(policy: Object | None) -> bool:
    """Whether a resource referenced by name may be missing."""
    return policy is not None and policy.get("resolution") == "Optional"


def sorted_by(resources: Sequence[Object], path: str) -> list[Object]:
    """Sort resources by the value at a path; a missing value sorts as zero or empty."""
    keyed = [(_value_at(resource, path), resource) for resource in resources]
    kind = _common_type([value for value, _ in keyed])
    if kind is None or len(keyed) < 2:
        return list(resources)
    if kind in ("bool", "map[string]interface {}", "[]interface {}"):
        raise SelectionError(f"unsupported type {quote(kind)} for sorting")
    zero: Any = "" if kind == "string" else 0
    keyed.sort(key=lambda pair: zero if pair[0] is None else pair[0])
    return [resource for _, resource in keyed]


def _value_at(resource: Object, path: str) -> Any:
    try:
        return get(resource, path)
    except PathNotFound:
        return None
    except PathError as error:
        raise SelectionError(str(error)) from None


def _common_type(values: Sequence[Any]) -> str | None:
    """The Go type that all existing values share; None when there are none."""
    common = None
    for value in values:
        if value is None:
            continue
        kind = go_type(value)
        if common is not None and kind != common:
            raise SelectionError(f"cannot sort values of different types {quote(common)} and {quote(kind)}")
        common = kind
    return common
