"""Provenance is complete: a field changes only when a source changes that is named for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from crossply.compose.function_messages import Request, Resource, Response, State
from crossply.compose.requirements import is_fatal
from crossply.functions.builtin.go_templating.engine.program import compile_text
from crossply.functions.builtin.go_templating.field_provenance import traced_output
from crossply.functions.builtin.go_templating.function import run as run_template
from crossply.functions.builtin.go_templating.input import read_input
from crossply.functions.builtin.go_templating.template_data import data_of
from crossply.functions.builtin.object_field_traces import leaves
from crossply.functions.builtin.patch_and_transform.function import run as run_patches
from crossply.functions.field_provenance import KEYS, VALUE, Path
from crossply.provenance.call_recorder import StepCall
from crossply.provenance.model import FieldSource
from crossply.provenance.pipeline import explain_pipeline
from crossply.values.field_path import parse, to_string
from tests.support.provenance import patches, templates

EXAMPLES = int(os.environ.get("CROSSPLY_PROVENANCE_EXAMPLES", "15"))
_SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


Mutation = tuple[list[tuple[Path, bool]], dict[str, Any]]
"""The fields that differ, each with whether it was removed, and the changed XR."""


def mutations(xr: dict[str, Any]) -> Iterator[Mutation]:
    """Every leaf changed, every leaf removed, and what is not there added."""
    for place_of in (lambda spec: spec, lambda spec: spec["nested"]):
        changed = deepcopy(xr)
        place_of(changed["spec"])["missing"] = "now"
        yield list(_differences(xr, changed)), changed
    for path, value in list(leaves(xr)):
        if path[0] in ("apiVersion", "kind"):
            continue
        for removed in (False, True):
            changed = deepcopy(xr)
            place: Any = changed
            for segment in path[:-1]:
                place = place[segment]
            if removed:
                del place[path[-1]]
            else:
                place[path[-1]] = _other(value)
            yield list(_differences(xr, changed)), changed


def _differences(before: Any, after: Any) -> Iterator[tuple[Path, bool]]:
    old, new = dict(leaves(before)), dict(leaves(after))
    for path in {**old, **new}:
        if path not in new or path not in old:
            yield path, True
        elif old[path] != new[path]:
            yield path, False


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 5.0 if isinstance(value, float) else f"{value}changed"


def is_named(source: FieldSource, path: Path, removed: bool) -> bool:
    for field in source.sources:
        if field.object == "request":
            return True
        if field.object != "composite":
            continue
        named = parse(field.path)
        if field.use == KEYS:
            if named[: len(path)] == path or (removed and path[:-1] == named):
                return True
        elif named[: len(path)] == path or path[: len(named)] == named:
            return True
    return False


def is_copied(source: FieldSource, value: Any, differing: list[tuple[Path, bool]]) -> bool:
    """Whether a field is reported as an unchanged copy of the only differing value."""
    if not source.how.endswith("(FromCompositeFieldPath)") or isinstance(value, dict | list) or value is None:
        return False
    values = [field for field in source.sources if field.use == VALUE]
    return len(values) == len(differing) == 1 and parse(values[0].path) == differing[0][0]


def fields_of(response: Response) -> dict[tuple[str, str], Any]:
    assert response.desired is not None
    objects = {name: resource.object for name, resource in response.desired.resources.items()}
    status = (response.desired.composite or Resource({})).object.get("status")
    objects |= {"": {"status": status}} if status else {}
    return {(name, to_string(path)): value for name, obj in objects.items() for path, value in leaves(obj)}


def check(run: Any, request_of: Any, xr: dict[str, Any]) -> None:
    request = request_of(xr)
    response = run(request)
    assume(not is_fatal(response))
    provenance = explain_pipeline([StepCall("step", "function", request, response)])
    fields = fields_of(response)
    for differing, changed in mutations(xr):
        other = run(request_of(changed))
        if is_fatal(other):
            continue
        after = fields_of(other)
        for (name, field), value in fields.items():
            source = provenance.of(name, field)
            assert source is not None, (name, field)
            if (name, field) in after and after[name, field] == value:
                assert not is_copied(source, value, differing), (
                    f"{differing} does not change {name}: {field}, which is said to be copied from it"
                )
                continue
            assert any(is_named(source, path, removed) for path, removed in differing), (
                f"{differing} changes {name}: {field} from {value!r} to {after.get((name, field))!r}, "
                f"but is not among {source.sources}"
            )


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
    check(run_template, _template_request(text), templates.XR)
    request = _template_request(text)(templates.XR)
    rendered = compile_text(text).render(data_of(request))
    assert traced_output(request, read_input(request), text).text == rendered


@_SETTINGS
@given(patches.inputs())
def test_a_patched_field_changes_only_with_a_source_that_is_named(function_input: dict[str, Any]):
    check(run_patches, lambda xr: patches.request_for(function_input, xr), templates.XR)
