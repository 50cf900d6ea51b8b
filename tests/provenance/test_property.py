"""Provenance is complete: a field changes only when a source changes that is named for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from crossply.compose.function_messages import Request, Resource, Response, State
from crossply.compose.requirements import is_fatal
from crossply.functions.builtin.go_templating.field_provenance import traced_output
from crossply.functions.builtin.go_templating.function import run as run_template
from crossply.functions.builtin.go_templating.input import read_input
from crossply.functions.builtin.go_templating.program import compile_text
from crossply.functions.builtin.go_templating.template_data import data_of
from crossply.functions.builtin.object_field_traces import leaves
from crossply.functions.builtin.patch_and_transform.function import run as run_patches
from crossply.functions.field_provenance import COMPOSITE, CONDITION, CONTEXT, ENVIRONMENT, KEYS, VALUE, Path
from crossply.provenance.call_recorder import StepCall
from crossply.provenance.model import FieldSource
from crossply.provenance.pipeline import explain_pipeline
from crossply.values.field_path import parse, to_string
from tests.support.provenance import environments, extra_resources, patches, templates

EXAMPLES = int(os.environ.get("CROSSPLY_PROVENANCE_EXAMPLES", "15"))
_SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


Objects = dict[str, dict[str, Any]]
"""The objects that fields may come from, by their names in provenance."""


class Change(NamedTuple):
    """One field changed, removed or added."""

    object: str
    path: Path
    moves: bool
    """Whether it was removed or added."""


class Mutation(NamedTuple):
    """One object changed."""

    changes: list[Change]
    objects: Objects


def mutations(objects: Objects) -> Iterator[Mutation]:
    """Every leaf of every object changed, every leaf removed, and what is not there added."""
    for name, obj in objects.items():
        for changed in _changed_objects(obj):
            yield Mutation(list(_changes(name, obj, changed)), {**objects, name: changed})


def _changed_objects(obj: dict[str, Any]) -> Iterator[dict[str, Any]]:
    root: Path = ("spec",) if "spec" in obj else ("data", "spec")
    for place in (root, (*root, "nested")):
        changed = deepcopy(obj)
        _value_at(changed, place[:-1]).setdefault(place[-1], {})["missing"] = "now"
        yield changed
    for path, value in list(leaves(obj)):
        if path[0] in ("apiVersion", "kind") or (path[0] == "metadata" and root[0] == "data"):
            continue
        for removed in (False, True):
            changed = deepcopy(obj)
            if removed:
                del _value_at(changed, path[:-1])[path[-1]]
            elif not isinstance(value, dict | list):
                _value_at(changed, path[:-1])[path[-1]] = _other(value)
            yield changed


def _value_at(obj: Any, path: Path) -> Any:
    for segment in path:
        obj = obj[segment]
    return obj


def _changes(name: str, before: Any, after: Any) -> Iterator[Change]:
    old, new = dict(leaves(before)), dict(leaves(after))
    for path in {**old, **new}:
        if path not in new or path not in old:
            yield Change(name, path, True)
        elif old[path] != new[path]:
            yield Change(name, path, False)
        if path not in old and name.startswith("EnvironmentConfig/"):
            # A field that no config has is named as one of the environment.
            yield from (Change(ENVIRONMENT, (*place, *path[1:]), True) for place in environments.PLACES)


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 5.0 if isinstance(value, float) else f"{value}changed"


def is_named(source: FieldSource, change: Change) -> bool:
    path = change.path
    for field in source.sources:
        if field.object == "request":
            return True
        if field.object != change.object:
            continue
        named = parse(field.path)
        if field.use == KEYS:
            if named[: len(path)] == path or (change.moves and path[:-1] == named):
                return True
        elif named[: len(path)] == path or path[: len(named)] == named:
            return True
    return False


def is_copied(source: FieldSource, value: Any, mutation: Mutation) -> bool:
    """Whether a field is reported as an unchanged copy of the only differing value."""
    copies = ("(FromCompositeFieldPath)", "(FromEnvironmentFieldPath)")
    if not source.how.endswith(copies) or isinstance(value, dict | list) or value is None:
        return False
    # What is copied from the environment is named with the field that the environment has it from.
    between = (ENVIRONMENT, CONTEXT)
    values = [field for field in source.sources if field.use == VALUE and field.object not in between]
    if len(values) != 1 or len(mutation.changes) != 1:
        return False
    if any(field.use == CONDITION and field.object != values[0].object for field in source.sources):
        return False  # a patch from another object may merge the same value into it
    [change] = mutation.changes
    if change.moves and len(mutation.objects) > 1:
        return False  # what an earlier patch, another config or the default data have may be the same
    return (values[0].object, parse(values[0].path)) == (change.object, change.path)


def fields_of(response: Response) -> dict[tuple[str, str], Any]:
    assert response.desired is not None
    objects = {name: resource.object for name, resource in response.desired.resources.items()}
    status = (response.desired.composite or Resource({})).object.get("status")
    objects |= {"": {"status": status}} if status else {}
    return {(name, to_string(path)): value for name, obj in objects.items() for path, value in leaves(obj)}


def check(calls_of: Callable[[Objects], list[StepCall] | None], objects: Objects) -> None:
    """`calls_of` runs a pipeline for some objects; it returns None if a step is fatal."""
    calls = calls_of(objects)
    assume(calls is not None)
    assert calls is not None
    provenance = explain_pipeline(calls)
    fields = fields_of(calls[-1].response)
    for mutation in mutations(objects):
        others = calls_of(mutation.objects)
        if others is None:
            continue
        after = fields_of(others[-1].response)
        for (name, field), value in fields.items():
            source = provenance.of(name, field)
            assert source is not None, (name, field)
            if (name, field) in after and after[name, field] == value:
                assert not is_copied(source, value, mutation), (
                    f"{mutation.changes} do not change {name}: {field}, which is said to be copied from it"
                )
                continue
            assert any(is_named(source, change) for change in mutation.changes), (
                f"{mutation.changes} change {name}: {field} from {value!r} to {after.get((name, field))!r}, "
                f"but is not among {source.sources}"
            )


def check_step(run: Any, request_of: Any) -> None:
    """A pipeline of one step."""

    def calls_of(objects: Objects) -> list[StepCall] | None:
        request = request_of(objects[COMPOSITE])
        response = run(request)
        return None if is_fatal(response) else [StepCall("step", "function", request, response)]

    check(calls_of, {COMPOSITE: templates.XR})


def _template_request(text: str) -> Any:
    step_input = {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        "inline": {"template": text},
    }
    return lambda xr: Request(State(Resource(xr)), State(), input=step_input)


@_SETTINGS
@given(st.integers(0, 1 << 32))
def test_a_field_of_a_template_changes_only_with_a_source_that_is_named(seed: int):
    text = templates.random_template(seed)
    check_step(run_template, _template_request(text))
    request = _template_request(text)(templates.XR)
    rendered = compile_text(text).render(data_of(request))
    assert traced_output(request, read_input(request), text).text == rendered


@_SETTINGS
@given(patches.inputs())
def test_a_patched_field_changes_only_with_a_source_that_is_named(function_input: dict[str, Any]):
    check_step(run_patches, lambda xr: patches.request_for(function_input, xr))


@_SETTINGS
@given(environments.pipelines(), environments.configs())
def test_a_field_from_the_environment_changes_only_with_a_source_that_is_named(
    inputs: list[dict[str, Any]], configs: Objects
):
    def calls_of(objects: Objects) -> list[StepCall] | None:
        changed = {name: objects[f"EnvironmentConfig/{name}"] for name in configs}
        return environments.run_pipeline(inputs, objects[COMPOSITE], changed)

    named = {f"EnvironmentConfig/{name}": config for name, config in configs.items()}
    check(calls_of, {COMPOSITE: templates.XR, **named})


@_SETTINGS
@given(environments.native_inputs(), environments.recorded_selections(), environments.configs())
def test_a_field_from_a_native_environment_changes_only_with_a_source_that_is_named(
    function_input: dict[str, Any], xr: dict[str, Any], configs: Objects
):
    def calls_of(objects: Objects) -> list[StepCall] | None:
        changed = {name: objects[f"EnvironmentConfig/{name}"] for name in configs}
        return environments.run_native_step(function_input, objects[COMPOSITE], changed)

    named = {f"EnvironmentConfig/{name}": config for name, config in configs.items()}
    check(calls_of, {COMPOSITE: xr, **named})


@_SETTINGS
@given(extra_resources.pipelines(), extra_resources.resources())
def test_a_field_from_an_extra_resource_changes_only_with_a_source_that_is_named(
    steps: list[Any], resources: Objects
):
    def calls_of(objects: Objects) -> list[StepCall] | None:
        changed = {name: objects[f"Other/{name}"] for name in resources}
        return extra_resources.run_pipeline(steps, objects[COMPOSITE], changed)

    named = {f"Other/{name}": obj for name, obj in resources.items()}
    check(calls_of, {COMPOSITE: templates.XR, **named})
