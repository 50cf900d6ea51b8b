"""Fields that name another resource: by a reference, or by a selector that finds it.

A field `network` may have a `networkRef` and a `networkSelector` beside it. A selector with
`matchControllerRef` finds only resources with the same controller, one with `matchLabels` only those with the
labels. What it finds becomes the reference, and what the reference names becomes the field's value. A field
that has a value is left alone; where there is a reference, the selector is ignored.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from crossply.compose.object_metadata import annotations_of, controller_of, labels_of, name_of
from crossply.kube.kind import Kind
from crossply.values import Object

Find = Callable[[Kind], list[Object]]
"""All that exists of a kind."""


class Unresolved(Exception):
    """What a field refers to does not exist, or not yet."""


class Field(NamedTuple):
    """One field that is to have a value."""

    parent: Object
    path: tuple[str, ...]
    name: str


def resolved(obj: Object, kinds: dict[str, Kind], find: Find) -> Object:
    """The merge patch that gives every reference field of an object its value; empty when all have theirs."""
    patch: Object = {}
    for field in _fields(obj.get("spec") or {}, ("spec",), kinds):
        found = _referenced(obj, field, find(kinds[field.name]))
        change = {f"{field.name}Ref": {"name": name_of(found)}, field.name: _value(field.name, found)}
        _put(patch, field.path, change)
    return patch


def _fields(parent: Any, path: tuple[str, ...], kinds: dict[str, Kind]) -> Iterator[Field]:
    if not isinstance(parent, dict):
        return
    for name in kinds:
        if name not in parent and (f"{name}Ref" in parent or f"{name}Selector" in parent):
            yield Field(parent, path, name)
    for key, inner in parent.items():
        yield from _fields(inner, (*path, key), kinds)


def _referenced(obj: Object, field: Field, candidates: list[Object]) -> Object:
    reference = field.parent.get(f"{field.name}Ref")
    if reference:
        found = [each for each in candidates if name_of(each) == reference.get("name")]
    else:
        selector = field.parent[f"{field.name}Selector"]
        found = [each for each in candidates if _selects(selector, obj, each)]
    if not found:
        raise Unresolved(f"nothing that {'.'.join((*field.path, field.name))} refers to exists yet")
    return random.choice(found)


def _selects(selector: Object, obj: Object, candidate: Object) -> bool:
    # The design has both spellings.
    same = selector.get("matchControllerRef") or selector.get("matchComposite")
    if same and (controller_of(candidate) or {}).get("uid") != (controller_of(obj) or {}).get("uid"):
        return False
    wanted = selector.get("matchLabels") or {}
    return all(labels_of(candidate).get(key) == value for key, value in wanted.items())


def _value(name: str, found: Object) -> str:
    external = annotations_of(found).get("crossplane.io/external-name") or name_of(found)
    if not name.endswith("Id"):
        return external
    id_ = (found.get("status") or {}).get("id")
    if not id_:
        raise Unresolved(f"{name_of(found)} has no ID yet")
    return str(id_)


def _put(patch: Object, path: tuple[str, ...], change: Object) -> None:
    for key in path:
        patch = patch.setdefault(key, {})
    patch.update(change)
