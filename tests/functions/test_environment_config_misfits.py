"""environment-configs: answers and inputs that do not fit are fatal results, and nothing makes it raise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.compose.function_messages import Request, Resource, Response, State
from crossply.functions.builtin.environment_configs import function as environment_configs
from crossply.functions.builtin.environment_configs.function import CONTEXT_KEY
from tests.support.functions.environment_configs import XR, config, failure, reference, run, selector, value

PROCESSING = "cannot get selected environment configs: cannot process environment config "
BY_SELECTOR = PROCESSING + '"environment-config-0" by selector: '
BY_REFERENCE = PROCESSING + '"base" by reference, "environment-config-0": '
MERGING = "cannot merge environment data: cannot get data from environment config "


@pytest.mark.parametrize(
    ("source", "objects", "sentence"),
    [
        (reference(), [], BY_REFERENCE + 'Required environment config "base" not found'),
        (
            reference(),
            [config("a"), config("b")],
            BY_REFERENCE + 'expected exactly one required resource "base", got 2',
        ),
        (selector(value()), [], BY_SELECTOR + "expected exactly one required resource, got 0"),
        (
            selector(value(), mode="Multiple", minMatch=2.0),
            [config("a")],
            BY_SELECTOR + "expected at least 2 required resources, got 1",
        ),
        (selector(value(), mode="Some"), [config("a")], BY_SELECTOR + 'unknown selector mode "Some"'),
        (
            selector(value(), mode="Multiple", sortByFieldPath="data.x"),
            [config("a", {"x": "1"}), config("b", {"x": 1.0})],
            BY_SELECTOR + 'cannot sort values of different types "string" and "float64"',
        ),
        (
            selector(value(), mode="Multiple", sortByFieldPath="data.x"),
            [config("a", {"x": True}), config("b", {"x": False})],
            BY_SELECTOR + 'unsupported type "bool" for sorting',
        ),
        (
            selector(value(), mode="Multiple", sortByFieldPath="data["),
            [config("a")],
            BY_SELECTOR + "cannot parse path \"data[\": unterminated '[' at position 4",
        ),
        (
            reference(),
            [{"metadata": {"name": "base"}}],
            MERGING + '"base": data: no such field',
        ),
        (
            reference(),
            [config("base", "text")],
            MERGING + '"base": cannot unmarshal value from JSON: '
            "json: cannot unmarshal string into Go value of type map[string]interface {}",
        ),
        (
            reference(toFieldPath="a["),
            [config("base")],
            MERGING + 'base into path "a["',
        ),
    ],
)
def test_an_answer_that_does_not_fit_is_fatal(
    source: dict[str, Any], objects: list[Any], sentence: str
) -> None:
    response = run(source, fetched=[objects])
    assert failure(response) == sentence
    assert response.requirements is not None, (
        "the question stays the same, so that the engine does not ask again"
    )


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"environmentConfig": []}, 'Go value of type v1beta1.InputSpec: unknown name "environmentConfig"'),
        ({"environmentConfigs": {}}, "JSON object into Go value of type []v1beta1.EnvironmentSource"),
        ({"environmentConfigs": ["a"]}, "JSON string into Go value of type v1beta1.EnvironmentSource"),
        (
            {"environmentConfigs": [{"type": 1.0}]},
            "JSON number into Go value of type v1beta1.EnvironmentSourceType",
        ),
        (
            {"environmentConfigs": [{"selector": {"minMatch": 1.5}}]},
            "JSON number into Go value of type uint64: "
            'cannot parse "1.5" as unsigned integer: invalid syntax',
        ),
        ({"defaultData": []}, "JSON array into Go value of type map[string]v1.JSON"),
    ],
)
def test_an_input_that_cannot_be_read_is_fatal(spec: dict[str, Any], sentence: str) -> None:
    response = environment_configs.run(Request(State(Resource(XR)), input={"spec": spec}))
    assert failure(response) == (
        "cannot get Function input from *v1.RunFunctionRequest: "
        "cannot get function input *v1beta1.Input from *v1.RunFunctionRequest: cannot unmarshal JSON from "
        f"*structpb.Struct into *v1beta1.Input: json: cannot unmarshal {sentence}"
    )


TEXTS = ["Reference", "Selector", "Value", "Multiple", "Optional", "spec.team", "data.x", "a[", "base", ""]
MEMBERS = [
    "type",
    "ref",
    "name",
    "selector",
    "matchLabels",
    "mode",
    "minMatch",
    "environmentConfigs",
    "defaultData",
    "policy",
    "resolution",
    "data",
    "x",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=5),
    max_leaves=15,
)
MATCHER = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(TEXTS),
        "key": JSON,
        "value": JSON,
        "valueFromFieldPath": st.sampled_from(TEXTS),
    },
)
SELECTOR = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(TEXTS),
        "minMatch": st.integers(0, 3),
        "maxMatch": st.integers(0, 3),
        "sortByFieldPath": st.sampled_from(TEXTS),
        "matchLabels": st.lists(MATCHER, max_size=2),
    },
)
SOURCE = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(TEXTS),
        "ref": st.fixed_dictionaries({}, optional={"name": st.sampled_from(TEXTS)}),
        "selector": SELECTOR,
        "toFieldPath": st.sampled_from(TEXTS),
    },
)


@given(st.lists(SOURCE, max_size=3) | JSON, st.lists(JSON, max_size=3), JSON)
def test_no_input_and_no_answer_makes_it_raise(sources: Any, objects: list[Any], loose: Any) -> None:
    fetched = [[{"data": data, "metadata": loose} for data in objects]] * 3
    for spec in (
        {"environmentConfigs": sources},
        {"environmentConfigs": sources, "defaultData": loose},
        loose,
    ):
        request = Request(
            State(Resource(XR)),
            input={"spec": spec},
            required_resources={
                f"environment-config-{i}": tuple(map(Resource, group)) for i, group in enumerate(fetched)
            },
            context={CONTEXT_KEY: loose},
        )
        assert isinstance(environment_configs.run(request), Response)
