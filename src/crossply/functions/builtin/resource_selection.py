"""Choosing resources by label and putting them in order: what extra-resources and environment-configs share.

Both ask the engine for resources in one call and receive them in the next. Before the question stands the
set of labels to match, some of them read from the composite resource; after the answer stand the order of
the resources and how many of them count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crossply.functions.builtin.input_decoder import Shape, array, struct, text, uint64
from crossply.values import Object
from crossply.values.goquote import quote
from crossply.values.gotypes import go_type
from crossply.values.paths import PathError, PathNotFound, get, get_string

DEFAULT_SORT_PATH = "metadata.name"


class SelectionError(Exception):
    """Resources cannot be chosen as the step says. It never leaves a function: it becomes a fatal result."""


def selector_members(prefix: str) -> dict[str, Shape]:
    """The members of a selector; `prefix` starts the names of its Go types."""
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
    """The label value that a matcher of type Value spells out."""
    if "value" not in matcher:
        raise SelectionError("Value cannot be nil for type 'Value'")
    value: str = matcher["value"]
    return value


def label_from(source: Object, matcher: Object, what: str) -> str | None:
    """The label value that a matcher reads from a field of `source`; None for one that may be missing."""
    path = matcher.get("valueFromFieldPath")
    if path is None:
        raise SelectionError(f"ValueFromFieldPath cannot be nil for type '{matcher_type(matcher)}'")
    try:
        return get_string(source, path)
    except PathError as error:
        if matcher.get("fromFieldPathPolicy") == "Optional":
            return None
        raise SelectionError(f"cannot get value from {what} {quote(path)}: {error}") from None


def matcher_type(matcher: Object) -> str:
    """Where a matcher's label value comes from."""
    return matcher.get("type") or "FromCompositeFieldPath"


def is_optional(policy: Object | None) -> bool:
    """Whether a resource that is referenced by name may be missing."""
    return policy is not None and policy.get("resolution") == "Optional"


def sorted_by(resources: Sequence[Object], path: str) -> list[Object]:
    """The resources in the order of the value each has at a path; without one it counts as zero or empty."""
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
    """The Go type of the values that are there; None when none is."""
    common = None
    for value in values:
        if value is None:
            continue
        kind = go_type(value)
        if common is not None and kind != common:
            raise SelectionError(f"cannot sort values of different types {quote(common)} and {quote(kind)}")
        common = kind
    return common
