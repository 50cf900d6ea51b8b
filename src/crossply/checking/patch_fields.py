"""Patches that read or write fields which do not exist, of the composite resource and of composed ones.

Schemas say whether a path leads to a field, and which one was meant if it does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

from crossply.checking.finding import Finding, Place, UnknownField, error
from crossply.checking.known_kinds import KnownKinds
from crossply.functions.builtin.patch_and_transform.dialect import (
    COMBINE_TYPES,
    COMPOSED_ROUTES,
    ENVIRONMENT_ROUTES,
    FROM_COMPOSED,
    FROM_COMPOSITE,
    TO_COMPOSED,
    TO_COMPOSITE,
    Route,
    patch_type,
    target_path,
)
from crossply.functions.builtin.patch_and_transform.patch_locations_in_input import (
    PlacedPatch,
    placed_patches,
)
from crossply.kinds.composition import TypeRef
from crossply.manifests.manifest import Manifest
from crossply.schema.builtin_schemas import object_meta
from crossply.validation.line_numbers import line_of, segments
from crossply.values import Object
from crossply.values.field_path import PathError, Segment, parse, to_string

Inside = tuple[str | int, ...]

_DEEPEST = 12
_MOST_LISTED = 8
_ANYTHING: Object = {"x-kubernetes-preserve-unknown-fields": True}
_PLAIN = {"type": "string"}
_Path = tuple[Segment, ...]


class _Side(NamedTuple):
    """One end of a patch: what kind of object it is, and its schema, if that is known."""

    kind: str
    schema: Object | None


class _Use(NamedTuple):
    """A path that a patch uses, and where it is written in the input."""

    path: str
    place: Inside
    side: _Side
    verb: str


class PatchedInput(NamedTuple):
    """The input of patch-and-transform in a Composition."""

    manifest: Manifest
    inside: Inside
    """Where in the Composition the input is."""
    value: Object
    composite: TypeRef


def unknown_fields(step: PatchedInput, kinds: KnownKinds) -> Iterator[Finding]:
    """An error for each path that leads to no field; the input must be valid."""
    composite = _Side(step.composite.kind, kinds.schema(*step.composite))
    reported = set()
    for use in _uses(step.value, composite, kinds):
        finding = _finding(use, step)
        if finding is not None and finding not in reported:
            reported.add(finding)
            yield finding


def _finding(use: _Use, step: PatchedInput) -> Finding | None:
    if use.side.schema is None or not use.path:
        return None
    try:
        path = parse(use.path)
    except PathError:
        return None  # the function refuses it
    at = _missing_at(use.side.schema, path)
    if at is None:
        return None
    problem = UnknownField(
        f"{use.verb} {use.path}, but {use.side.kind} has no field {to_string(path[: at + 1])}",
        hint=_suggestion(use.side.schema, path, at),
    )
    line = line_of(step.manifest, (*step.inside, *use.place))
    return error(problem, Place(step.manifest.document.source, line))


def _uses(value: Object, composite: _Side, kinds: KnownKinds) -> Iterator[_Use]:
    placed = placed_patches(value)
    for index, (resource, patches) in enumerate(zip(_resources(value), placed.resources, strict=True)):
        composed = _composed_side(resource, kinds)
        for patch in patches:
            yield from _patch_uses(patch, COMPOSED_ROUTES, value, composite, composed)
        yield from _observed_uses(resource, index, composed)
    for patch in placed.environment:
        yield from _patch_uses(patch, ENVIRONMENT_ROUTES, value, composite, _Side("", None))


def _resources(value: Object) -> list[Object]:
    resources: list[Object] = value.get("resources") or []
    return resources


def _composed_side(resource: Object, kinds: KnownKinds) -> _Side:
    base: Any = resource.get("base") or {}
    api_version, kind = base.get("apiVersion"), base.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return _Side("", None)
    return _Side(kind, kinds.schema(api_version, kind))


def _patch_uses(
    patch: PlacedPatch, routes: dict[str, Route], value: Object, composite: _Side, composed: _Side
) -> Iterator[_Use]:
    settings = patch.settings
    route = routes.get(patch_type(settings))
    if route is None:
        return
    place = tuple(segments(patch.where, value))
    source = {FROM_COMPOSITE: composite, FROM_COMPOSED: composed}.get(route[0])
    if source is not None:
        for number, path in enumerate(patch.reads):
            yield _Use(path, (*place, *_read_place(settings, number)), source, "the patch reads")
    target = {TO_COMPOSITE: composite, TO_COMPOSED: composed}.get(route[1])
    if target is not None:
        written = "toFieldPath" if "toFieldPath" in settings else "fromFieldPath"
        yield _Use(target_path(settings), (*place, written), target, "the patch writes")


def _read_place(settings: Object, number: int) -> Inside:
    if patch_type(settings) in COMBINE_TYPES:
        return "combine", "variables", number, "fromFieldPath"
    return ("fromFieldPath",)


def _observed_uses(resource: Object, index: int, composed: _Side) -> Iterator[_Use]:
    """The fields that readiness checks and connection details read of the composed resource."""
    place = ("resources", index)
    for number, check in enumerate(resource.get("readinessChecks") or ()):
        path = str(check.get("fieldPath") or "")
        yield _Use(
            path, (*place, "readinessChecks", number, "fieldPath"), composed, "the readiness check reads"
        )
    for number, detail in enumerate(resource.get("connectionDetails") or ()):
        path = str(detail.get("fromFieldPath") or "")
        where = (*place, "connectionDetails", number, "fromFieldPath")
        yield _Use(path, where, composed, "the connection detail reads")


def _missing_at(schema: Object, path: _Path) -> int | None:
    """The index of the first segment of a path that no object of a schema can have; None if all can be."""
    current: Any = _with_metadata(schema)
    for index, segment in enumerate(path):
        current = _below(current, segment)
        if current is None:
            return index
        if current is _ANYTHING:
            return None
    return None


def _with_metadata(schema: Object) -> Object:
    """The schema of a whole object. Definitions leave out what every object has."""
    common = {"apiVersion": _PLAIN, "kind": _PLAIN, "metadata": object_meta()}
    return {**schema, "properties": {**(schema.get("properties") or {}), **common}}


def _below(schema: Any, segment: Segment) -> Any:
    """The schema of a field or item; None if there is none."""
    if not isinstance(schema, dict) or schema.get("x-kubernetes-preserve-unknown-fields"):
        return _ANYTHING
    if not schema.keys() - {"description"}:
        return _ANYTHING
    properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
    if isinstance(segment, str) and segment in properties:
        return properties[segment]
    if isinstance(segment, int) or segment == "*":
        if "items" in schema:
            return schema["items"]
        if segment == "*" and properties:
            return _ANYTHING
    if isinstance(others, dict) and not isinstance(segment, int):
        return others
    return _ANYTHING if others is True else None


def _suggestion(schema: Object, path: _Path, at: int) -> str:
    """What to write instead of a path whose segment at an index is missing."""
    schema = _with_metadata(schema)
    parent: Any = schema
    for segment in path[:at]:
        parent = _below(parent, segment)
    names = sorted((parent or {}).get("properties") or {})
    similar = get_close_matches(str(path[at]), names, n=1)
    if similar:
        corrected = (*path[:at], similar[0], *path[at + 1 :])
        shown = corrected if _missing_at(schema, corrected) is None else corrected[: at + 1]
        return f"did you mean {to_string(shown)}?"
    elsewhere = _same_end(schema, path[at:], str(path[0]))
    if elsewhere:
        return f"did you mean {to_string(elsewhere)}?"
    return _listed(names, to_string(path[:at]))


def _listed(names: list[str], where: str) -> str:
    place = where or "the object"
    if not names:
        return f"the schema has no fields in {place}"
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"{place} has {', '.join(names[:_MOST_LISTED])}{more}"


def _same_end(schema: Object, end: _Path, top: str) -> _Path | None:
    """The shortest path below a field that ends like another path."""
    names = tuple(segment for segment in end if isinstance(segment, str))
    below = (schema.get("properties") or {}).get(top)
    if not names or below is None:
        return None
    candidates = [(top, *path) for path in _paths(below, _DEEPEST) if _ends_with(path, names)]
    return min(candidates, key=len, default=None)


def _ends_with(path: tuple[str, ...], names: tuple[Segment, ...]) -> bool:
    return path[-len(names) :] == names


def _paths(schema: Any, depth: int) -> Iterator[tuple[str, ...]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, below in (properties or {}).items() if depth else ():
        yield (name,)
        yield from ((name, *path) for path in _paths(below, depth - 1))
