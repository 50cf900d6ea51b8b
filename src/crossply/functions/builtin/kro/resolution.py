"""Put values into templates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

from crossply.functions.builtin.kro.cel.values import OMIT
from crossply.functions.builtin.kro.expressions import GraphError
from crossply.functions.builtin.kro.resource_checks import MOST_ITEMS
from crossply.functions.builtin.kro.template_fields import Field, Segments
from crossply.values import Object
from crossply.values.api_version import split_api_version
from crossply.values.deepcopy import deepcopy


def resolved(template: Object, fields: list[Field], values: dict[str, Any]) -> Object:
    """A template with the values of its expressions, by their texts; `omit()` removes a field."""
    resource: Object = deepcopy(template)
    for field in fields:
        set_at(resource, field.segments, deepcopy(values[field.expression.text]))
    return without_omitted(resource)  # type: ignore[no-any-return]


def set_at(container: Any, segments: Segments, value: Any) -> None:
    """Set a value at a place; objects and lists on the way to it are made where they are missing."""
    for segment, following in pairwise(segments):
        missing: Any = [] if isinstance(following, int) else {}
        container = _member(container, segment, missing)
    if isinstance(container, list):
        assert isinstance(segments[-1], int)
        _lengthen(container, segments[-1])
    container[segments[-1]] = value


def _member(container: Any, segment: str | int, missing: Any) -> Any:
    if isinstance(segment, int):
        _lengthen(container, segment)
        if container[segment] is None:
            container[segment] = missing
    elif container.get(segment) is None:
        container[segment] = missing
    return container[segment]


def _lengthen(items: list[Any], index: int) -> None:
    items.extend([None] * (index + 1 - len(items)))


def without_omitted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_omitted(item) for key, item in value.items() if item is not OMIT}
    if isinstance(value, list):
        return [without_omitted(item) for item in value if item is not OMIT]
    return value


def combinations(dimensions: list[tuple[str, list[Any]]]) -> Iterator[dict[str, Any]]:
    """Each combination of items, as variables; the last list changes fastest."""
    if not dimensions:
        return
    total = 1
    for _, values in dimensions:
        total *= len(values)
        if total > MOST_ITEMS:
            raise GraphError(
                f"collection size of {total} is over the maximum collection size of {MOST_ITEMS}"
            )
    names = [name for name, _ in dimensions]
    for combination in product(*(values for _, values in dimensions)):
        yield dict(zip(names, combination, strict=True))


def identity(resource: Object) -> str:
    """The kind, namespace and name of a resource."""
    group, version = split_api_version(str(resource.get("apiVersion") or ""))
    metadata = resource["metadata"]
    names = [_text(metadata.get(field)) for field in ("namespace", "name")]
    return "/".join((group, version, str(resource.get("kind") or ""), *names))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
