"""The targets of a step: what the objects of its program are applied to."""

from __future__ import annotations

from collections.abc import Callable

from crossply.compose.function_messages import Resource
from crossply.compose.object_metadata import metadata_of, text_in
from crossply.functions.builtin.kcl.input import (
    DEFAULT,
    PATCH_DESIRED,
    PATCH_RESOURCES,
    RESOURCES,
    XR,
    Input,
)
from crossply.functions.builtin.kcl.response_state import (
    META_VERSION,
    NAME_ANNOTATION,
    Outcome,
    OutputRefused,
    take_name,
    take_ready,
)
from crossply.functions.reply_limits import within_deadline
from crossply.values import Object
from crossply.values.deepcopy import deepcopy
from crossply.values.goquote import quote
from crossply.values.merge import MergeOptions, merge

_OVERRIDE = MergeOptions(keep_map_values=False)
_IDENTITY = ("apiVersion", "kind", "metadata.name")
"""Fields of an existing resource that a patch does not change."""


def apply(step_input: Input, objects: list[Object], outcome: Outcome) -> None:
    """Apply the objects of a program; raises OutputRefused."""
    _TARGETS[step_input.target](step_input, objects, outcome)


def _default(step_input: Input, objects: list[Object], outcome: Outcome) -> None:
    names = _NamesUsed()
    for obj in within_deadline(objects):
        if _is_xr(obj, outcome):
            _merge_status(obj, outcome)
        elif text_in(obj, "apiVersion") == META_VERSION:
            _apply_meta(obj, outcome)
        else:
            resource = take_ready(Resource(obj))
            name, remaining = names.take(resource.object)
            outcome.resources[name] = resource._replace(object=remaining)


def _apply_meta(obj: Object, outcome: Outcome) -> None:
    from crossply.functions.builtin.kcl import meta_kinds

    meta_kinds.apply(obj, outcome)


def _resources(step_input: Input, objects: list[Object], outcome: Outcome) -> None:
    names = _NamesUsed()
    for obj in within_deadline(objects):
        name, remaining = names.take(obj)
        if name in outcome.resources:
            remaining = {**outcome.resources[name].object, **remaining}
        outcome.resources[name] = Resource(remaining)
    _take_all_ready(outcome)


def _patch_desired(step_input: Input, objects: list[Object], outcome: Outcome) -> None:
    from crossply.functions.builtin.kcl.field_copy import copy_fields

    patches = [take_name(obj) for obj in objects]
    matched = [(name, patch) for name, patch in patches if name in outcome.resources]
    if len(matched) != len(patches):
        raise OutputRefused(f"failed to match all resources, found {len(matched)} / {len(patches)} patches")
    patched: dict[str, Resource] = {}
    for name, patch in within_deadline(matched):
        if name not in patched:  # once: many patches of one large resource would copy it each time
            obj = deepcopy(outcome.resources[name].object)
            patched[name] = outcome.resources[name]._replace(object=obj, snapshot=None)
        copy_fields(
            patch, patched[name].object, _IDENTITY, "cannot set data existing desired composed object"
        )
    outcome.resources.update(patched)
    _take_all_ready(outcome)


def _patch_resources(step_input: Input, objects: list[Object], outcome: Outcome) -> None:
    outcome.resources.update((name, Resource(base)) for name, base in step_input.resources)
    _patch_desired(step_input, objects, outcome)


def _xr(step_input: Input, objects: list[Object], outcome: Outcome) -> None:
    from crossply.functions.builtin.kcl.field_copy import copy_fields

    xr = deepcopy(outcome.xr)
    for obj in within_deadline(objects):
        copy_fields(obj, xr, (), "cannot set data on xr")
    outcome.xr = xr


_TARGETS: dict[str, Callable[[Input, list[Object], Outcome], None]] = {
    DEFAULT: _default,
    RESOURCES: _resources,
    PATCH_DESIRED: _patch_desired,
    PATCH_RESOURCES: _patch_resources,
    XR: _xr,
}


class _NamesUsed:
    """The names of the composed resources of one program, which must differ."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}

    def take(self, obj: Object) -> tuple[str, Object]:
        """The name of a composed resource, and the object without the annotation for it."""
        name, remaining = take_name(obj)
        shown = f"{text_in(obj, 'kind')}/{text_in(metadata_of(obj), 'name')}"
        if name in self._kinds:
            raise OutputRefused(
                f"multiple composed resources with name {quote(name)} returned: {self._kinds[name]} and "
                f'{shown}. Set different metadata.name or metadata.annotations."{NAME_ANNOTATION}" '
                "to distinguish them."
            )
        self._kinds[name] = shown
        return name, remaining


def _take_all_ready(outcome: Outcome) -> None:
    for name in outcome.resources:
        outcome.resources[name] = take_ready(outcome.resources[name])


def _is_xr(obj: Object, outcome: Outcome) -> bool:
    return all(text_in(obj, key) == text_in(outcome.observed_xr, key) for key in ("apiVersion", "kind"))


def _merge_status(obj: Object, outcome: Outcome) -> None:
    existing = _status(outcome.xr, "cannot get desired composite status")
    added = _status(obj, "cannot get templated composite status")
    is_null = existing is None and added is None
    status = None if is_null else merge(existing or {}, added or {}, _OVERRIDE)
    outcome.xr = {**outcome.xr, "status": status}


def _status(obj: Object, context: str) -> Object | None:
    status: Object | None = obj.get("status", {})
    if isinstance(status, dict) or status is None:
        return status
    from crossply.functions.builtin.go_struct_decoder import StructError, read_map

    try:
        return read_map(status, "map[string]interface {}")
    except StructError as error:
        raise OutputRefused(f"{context}: {error}") from None
