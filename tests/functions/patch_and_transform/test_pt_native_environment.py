"""The environment of Compositions in `mode: Resources`, as Crossplane 1.11 to 1.17 had it."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import Resource, Response
from crossply.functions.builtin.patch_and_transform.field_provenance import trace_native
from crossply.functions.builtin.patch_and_transform.resources_mode import API_VERSION, KIND, run_native
from crossply.kinds.composition_native_step import ENVIRONMENT_REFERENCES
from crossply.values import Object
from tests.support.functions.native_environments import (
    EnvironmentCase,
    load_environment_cases,
    load_recorded_environments,
    our_answer,
)
from tests.support.functions.patch_and_transform import (
    BASE,
    FATAL,
    desired_object,
    messages,
    run_input,
    severities,
    xr,
)

RECORDED = load_recorded_environments()
KEY = "apiextensions.crossplane.io/environment"
REGION = {"type": "FromEnvironmentFieldPath", "fromFieldPath": "region", "toFieldPath": "spec.region"}
BY_NAME = {"environmentConfigs": [{"ref": {"name": "e"}}]}
CONFIG = {"kind": "EnvironmentConfig", "metadata": {"name": "e"}, "data": {"region": "north"}}
FETCHED = {"environment-config-0": (Resource(CONFIG),)}


@pytest.mark.parametrize("case", load_environment_cases(), ids=lambda case: case.name)
def test_an_environment_behaves_as_it_did_in_crossplane(case: EnvironmentCase) -> None:
    entry = RECORDED[case.name]
    assert ("ours" in entry) == bool(case.difference), "a difference has a reason, and a reason a difference"
    assert our_answer(case) == entry["ours" if case.difference else "original"]


def function_input(environment: Object | None, *patches: Object) -> Object:
    written: Object = {"apiVersion": API_VERSION, "kind": KIND}
    written["resources"] = [{"name": "one", "base": BASE, "patches": list(patches)}]
    return written if environment is None else {**written, "environment": environment}


def compose(environment: Object | None, *patches: Object, **options: Any) -> Any:
    return run_input(function_input(environment, *patches), function=run_native, **options)


def references(response: Response) -> str | None:
    assert response.desired is not None
    assert response.desired.composite is not None
    metadata = response.desired.composite.object.get("metadata", {})
    annotation: str | None = metadata.get("annotations", {}).get(ENVIRONMENT_REFERENCES)
    return annotation


def test_configs_are_required_before_anything_is_composed() -> None:
    response = compose(BY_NAME, REGION)
    [selector] = response.requirements.resources.values()
    assert (selector.kind, selector.match_name) == ("EnvironmentConfig", "e")
    assert response.desired.resources == {}


def test_the_environment_is_in_the_context_for_container_functions() -> None:
    response = compose(BY_NAME, REGION, required=FETCHED)
    assert desired_object(response)["spec"]["region"] == "north"
    assert response.context[KEY]["region"] == "north"
    assert response.requirements.resources, "a change of the config has the XR composed again"


def test_there_is_no_environment_where_nothing_uses_it() -> None:
    assert compose(None).context is None


def test_the_xr_saves_its_selection_in_an_annotation() -> None:
    assert references(compose(BY_NAME, REGION, required=FETCHED)) == "e"


def test_the_saved_selection_is_required_instead_of_that_of_the_composition() -> None:
    annotated = {**xr(), "metadata": {"name": "x", "annotations": {ENVIRONMENT_REFERENCES: "old,older"}}}
    selectors = compose(BY_NAME, REGION, composite=annotated).requirements.resources
    assert [selector.match_name for selector in selectors.values()] == ["old", "older"]


def test_a_saved_config_that_is_gone_is_an_error_with_a_hint_to_reselect() -> None:
    annotated = {**xr(), "metadata": {"name": "x", "annotations": {ENVIRONMENT_REFERENCES: "old"}}}
    response = compose(BY_NAME, REGION, composite=annotated, required={"environment-config-0": ()})
    assert severities(response) == [FATAL]
    assert 'configs.apiextensions.crossplane.io "old" not found (selected before' in messages(response)[0]
    assert response.requirements.resources, "its creation has the XR composed again"


def test_nothing_is_saved_for_a_composition_that_selects_at_every_run() -> None:
    always = {**BY_NAME, "policy": {"resolve": "Always"}}
    assert references(compose(always, REGION, required=FETCHED)) is None


def selecting(**selector: Any) -> Object:
    matchers = [{"key": "a", "type": "Value", "value": "b"}]
    source = {"type": "Selector", "selector": {"matchLabels": matchers, **selector}}
    return {"environmentConfigs": [source]}


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        ({"environmentConfigs": "e"}, "JSON string into Go value of type []v1.EnvironmentSource"),
        ({"defaultData": ["a"]}, "JSON array into Go value of type map[string]v1.JSON"),
        ({"environmentConfigs": [{"type": "Other"}]}, 'environmentConfigs[0].type: Invalid value: "Other"'),
        (selecting(mode="All"), 'selector.mode: Invalid value: "All"'),
        (selecting(mode="Multiple", maxMatch=-1), "selector.maxMatch: Invalid value"),
    ],
)
def test_an_environment_that_makes_no_sense_is_refused(environment: Object, problem: str) -> None:
    response = compose(environment, REGION)
    assert severities(response) == [FATAL]
    assert problem in messages(response)[0]


def test_a_trace_names_the_environment_and_its_config_as_the_sources() -> None:
    always = {**BY_NAME, "policy": {"resolve": "Always"}}
    traced: Any = run_input(function_input(always, REGION), function=trace_native, required=FETCHED)
    assert traced is not None
    sources = traced.resources["one"]["spec", "region"].sources
    assert [(source.object, source.path) for source in sources] == [
        ("environment", "region"),
        ("EnvironmentConfig/e", "data.region"),
    ]


def test_an_environment_that_is_not_fetched_is_not_traced() -> None:
    assert run_input(function_input(BY_NAME, REGION), function=trace_native) is None
