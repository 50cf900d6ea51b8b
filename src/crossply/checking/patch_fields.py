"""Patches that read or write fields which do not exist, of the composite resource and of composed ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from crossply.checking.finding import Finding, Place, UnknownField, error
from crossply.checking.known_kinds import KnownKinds
from crossply.checking.schema_fields import missing_at, suggestion
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
from crossply.functions.builtin.patch_and_transform.patch_input_paths import PlacedPatch, placed_patches
from crossply.kinds.composition import TypeRef
from crossply.manifests.manifest import Manifest
from crossply.validation.line_numbers import line_of, segments
from crossply.values import Object
from crossply.values.field_path import PathError, parse, to_string

Inside = tuple[str | int, ...]


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
    at = missing_at(use.side.schema, path)
    if at is None:
        return None
    problem = UnknownField(
        f"{use.verb} {use.path}, but {use.side.kind} has no field {to_string(path[: at + 1])}",
        hint=suggestion(use.side.schema, path, at),
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
