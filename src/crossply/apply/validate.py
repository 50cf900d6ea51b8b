"""Check whether a value fits its type.

Looser than schema validation: only what merging depends on is checked, null is allowed anywhere, and integers
and floats are the same type. Every write passes here, so the walk is written to be quick where
everything fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from crossply.apply.errors import NotTyped
from crossply.apply.path_elements import BadElement, described, item_element, item_elements
from crossply.apply.schema_types import DEDUCED, UNTYPED, ListType, MapType, Type
from crossply.values.go_type_names import go_type
from crossply.values.goformat import sprintf


class Problem(NamedTuple):
    """One place where a value does not fit."""

    path: str
    message: str


_FINE: Sequence[Problem] = ()
_FREE = (DEDUCED, UNTYPED)


def check(value: Any, type_: Type) -> None:
    """Raise NotTyped unless a value fits and no list has an item twice."""
    _raise(_problems(value, type_, False))


def check_with_duplicates(value: Any, type_: Type) -> None:
    """Raise NotTyped unless a value fits; lists written before may have items twice."""
    _raise(_problems(value, type_, True))


def _raise(problems: Sequence[Problem]) -> None:
    if not problems:
        return
    texts = [f"{path}: {message}" if path else message for path, message in problems]
    raise NotTyped(texts[0] if len(texts) == 1 else "\n".join(["errors:", *[f"  {text}" for text in texts]]))


def _problems(value: Any, type_: Type, duplicates: bool) -> Sequence[Problem]:
    kind = value.__class__
    if kind in type_.leaves:
        return _FINE
    if kind is dict and type_.map is not None:
        return _map_problems(value, type_.map, duplicates)
    if kind is list and type_.list is not None:
        return _list_problems(value, type_.list, duplicates)
    return [_mismatch(value, type_)]


def _map_problems(value: dict[str, Any], map_type: MapType, duplicates: bool) -> Sequence[Problem]:
    fields, element = map_type.fields, map_type.element
    if not fields and element in _FREE:
        return _FINE
    problems: list[Problem] = []
    for name, member in value.items():
        type_ = fields.get(name, element)
        if type_ is None:
            problems.append(Problem(f".{name}", "field not declared in schema"))
        elif member.__class__ not in type_.leaves:
            deeper = _problems(member, type_, duplicates)
            if deeper:
                problems += _under(f".{name}", deeper)
    return sorted(problems) if len(problems) > 1 else problems


def _list_problems(value: list[Any], list_type: ListType, duplicates: bool) -> Sequence[Problem]:
    if list_type.atomic:
        return _item_problems(value, [], list_type.element, duplicates)
    try:
        elements = item_elements(list_type, value)
    except BadElement:
        return _unidentified(value, list_type)
    problems: list[Problem] = []
    if not duplicates and len(set(elements)) != len(elements):
        repeated = [item for index, item in enumerate(elements) if item in elements[:index]]
        problems = [Problem("", f"duplicate entries for key {described(element)}") for element in repeated]
    return [*problems, *_item_problems(value, elements, list_type.element, duplicates)]


def _item_problems(value: list[Any], elements: list[str], type_: Type, duplicates: bool) -> Sequence[Problem]:
    leaves = type_.leaves
    problems: list[Problem] = []
    for index, item in enumerate(value):
        if item.__class__ not in leaves:
            deeper = _problems(item, type_, duplicates)
            if deeper:
                problems += _under(described(elements[index]) if elements else f"[{index}]", deeper)
    return problems


def _unidentified(value: list[Any], list_type: ListType) -> Sequence[Problem]:
    for index, item in enumerate(value):
        try:
            item_element(list_type, item)
        except BadElement as error:
            return [Problem("", f"element {index}: {error}")]
    return _FINE


def _under(prefix: str, problems: Sequence[Problem]) -> list[Problem]:
    return [Problem(prefix + path, message) for path, message in problems]


def _mismatch(value: Any, type_: Type) -> Problem:
    if type_.map is not None:
        return Problem("", f"expected map, got {_shown(value)}")
    if type_.scalar == "numeric":
        return Problem("", f"expected numeric (int or float), got {go_type(value)}")
    if type_.scalar == "string":
        shown = sprintf("%#v", [value])
        return Problem("", f"expected string, got &value.valueUnstructured{{Value:{shown}}}")
    if type_.scalar:
        expected = "boolean" if type_.scalar == "boolean" else "any scalar"
        return Problem("", f"expected {expected}, got {_shown(value)}")
    return Problem("", f"expected list, got {_shown(value)}")


def _shown(value: Any) -> str:
    """Write a value as Go prints the box it keeps it in."""
    return sprintf("&{%v}", [value])
