"""environment-configs: what it asks for, how it chooses, and how the data merges."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.compose.messages import (
    SEVERITY_FATAL,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    State,
)
from crossply.functions.builtin import environment_configs
from crossply.functions.builtin.environment_configs import CONTEXT_KEY
from crossply.functions.builtin.environment_configs_merge import merge

XR = {"apiVersion": "example.org/v1", "kind": "XApp", "spec": {"team": "a", "size": 3.0}}
KIND = {"apiVersion": "internal.crossplane.io/v1alpha1", "kind": "Environment"}


def config(name: str, data: Any = None, **rest: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data if data is not None else {}, **rest}


def reference(name: str = "base", **rest: Any) -> dict[str, Any]:
    return {"type": "Reference", "ref": {"name": name}, **rest}


def selector(*matchers: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"type": "Selector", "selector": {"matchLabels": list(matchers), **rest}}


def value(key: str = "tier", label: str = "base") -> dict[str, Any]:
    return {"type": "Value", "key": key, "value": label}


def run(
    *sources: Any, found: list[list[dict[str, Any]]] | None = None, context: Any = None, **spec: Any
) -> Response:
    """Run the step; `found` is what the engine fetched for each source, None before it has."""
    required = {
        f"environment-config-{index}": tuple(map(Resource, group)) for index, group in enumerate(found or [])
    }
    return environment_configs.run(
        Request(
            State(Resource(XR)),
            input={"spec": {"environmentConfigs": list(sources), **spec}},
            required_resources=required,
            context=context,
        )
    )


def environment(response: Response) -> dict[str, Any]:
    assert response.results == ()
    assert response.context is not None
    found: dict[str, Any] = response.context[CONTEXT_KEY]
    return {key: item for key, item in found.items() if key not in KIND}


def failure(response: Response) -> str:
    (result,) = response.results
    assert result.severity == SEVERITY_FATAL
    return result.message


def asked(response: Response) -> dict[str, ResourceSelector]:
    assert response.requirements is not None
    return response.requirements.resources


API = ("apiextensions.crossplane.io/v1beta1", "EnvironmentConfig")


def test_the_first_call_only_asks() -> None:
    response = run(reference("base"), {"ref": {"name": "over"}}, selector(value()), context={"kept": 1.0})
    assert asked(response) == {
        "environment-config-0": ResourceSelector(*API, match_name="base"),
        "environment-config-1": ResourceSelector(*API, match_name="over"),
        "environment-config-2": ResourceSelector(*API, match_labels={"tier": "base"}),
    }
    assert response.context == {"kept": 1.0}


def test_nothing_to_gather_asks_for_nothing() -> None:
    assert environment_configs.run(Request(State(Resource(XR)))).requirements is None
    assert environment_configs.run(Request(State(Resource(XR)), input={"spec": None})).requirements is None
    assert run().requirements == Requirements(), "an empty list is still a question"


@pytest.mark.parametrize(
    ("matchers", "labels", "reason"),
    [
        (
            [{"key": "team", "valueFromFieldPath": "spec.team"}],
            {"team": "a"},
            "the composite is read by default",
        ),
        (
            [{"type": "FromEnvironmentFieldPath", "key": "zone", "valueFromFieldPath": "zone"}],
            {"zone": "eu"},
            "the environment that came in can be read too",
        ),
        (
            [{"key": "x", "valueFromFieldPath": "spec.none", "fromFieldPathPolicy": "Optional"}, value()],
            {"tier": "base"},
            "an optional label that is missing is left out",
        ),
        (
            [{"key": "x", "valueFromFieldPath": "spec.none", "fromFieldPathPolicy": "Optional"}],
            None,
            "without any label the selector asks for nothing",
        ),
        ([], None, "no labels, no question"),
        ([{"type": "Unheard", "key": "x"}], None, "a matcher of an unknown type matches nothing"),
    ],
)
def test_labels_come_from_the_step_the_composite_or_the_environment(
    matchers: list[dict[str, Any]], labels: dict[str, str] | None, reason: str
) -> None:
    response = run(selector(*matchers), context={CONTEXT_KEY: {"zone": "eu"}})
    expected = {} if labels is None else {"environment-config-0": ResourceSelector(*API, match_labels=labels)}
    assert asked(response) == expected, reason


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            selector({"key": "x", "valueFromFieldPath": "spec.none"}),
            'cannot get value from composite field path "spec.none": spec.none: no such field',
        ),
        (
            selector({"key": "x", "valueFromFieldPath": "spec.size"}),
            'cannot get value from composite field path "spec.size": spec.size: not a string',
        ),
        (
            selector({"type": "FromEnvironmentFieldPath", "key": "x", "valueFromFieldPath": "zone"}),
            'cannot get value from environment field path "zone": zone: no such field',
        ),
        (selector({"type": "Value", "key": "x"}), "Value cannot be nil for type 'Value'"),
        (selector({"key": "x"}), "ValueFromFieldPath cannot be nil for type 'FromCompositeFieldPath'"),
        ({"type": "Reference"}, "ref cannot be nil for type 'Reference'"),
        ({"type": "Selector"}, "selector cannot be nil for type 'Selector'"),
    ],
)
def test_a_question_that_cannot_be_asked_is_fatal(source: dict[str, Any], sentence: str) -> None:
    assert failure(run(source)) == f"cannot build requirements: {sentence}"


def test_a_later_config_wins_and_objects_merge() -> None:
    base = config("base", {"region": "eu", "net": {"a": 1.0, "b": 1.0}, "list": [1.0]})
    over = config("over", {"region": "us", "net": {"b": 2.0}, "list": [2.0]})
    response = run(reference("base"), reference("over"), found=[[base], [over]])
    assert response.context == {
        CONTEXT_KEY: {**KIND, "region": "us", "net": {"a": 1.0, "b": 2.0}, "list": [2.0]}
    }
    assert base["data"]["net"] == {"a": 1.0, "b": 1.0}, "what was fetched stays as it was"


def test_configs_win_over_what_came_in_and_that_wins_over_defaults() -> None:
    response = run(
        reference(),
        found=[[config("base", {"a": "config"})]],
        context={CONTEXT_KEY: {"a": "came", "b": "came"}, "other": True},
        defaultData={"a": "default", "b": "default", "c": "default"},
    )
    assert environment(response) == {"a": "config", "b": "came", "c": "default"}
    assert response.context is not None
    assert response.context["other"] is True


@pytest.mark.parametrize(
    ("data", "expected", "reason"),
    [
        ({}, KIND, "an environment says what it is"),
        ({"kind": "Mine"}, {"kind": "Mine"}, "a kind of its own is kept"),
        ({"apiVersion": "v1"}, {"apiVersion": "v1"}, "so is a version"),
        ({"apiVersion": "a/b/c"}, KIND, "a version that cannot be read is none"),
        ({"apiVersion": 5.0, "kind": ""}, KIND, "nor is a number or an empty kind"),
    ],
)
def test_the_environment_has_a_kind(data: dict[str, Any], expected: dict[str, Any], reason: str) -> None:
    response = run(reference(), found=[[config("base", data)]])
    assert response.context == {CONTEXT_KEY: expected}, reason


def test_data_goes_where_the_source_says() -> None:
    response = run(
        reference(toFieldPath="net.eu"),
        reference("b"),
        found=[[config("a", {"x": 1.0})], [config("b", {"y": 2.0})]],
    )
    assert environment(response) == {"net": {"eu": {"x": 1.0}}, "y": 2.0}


def test_many_configs_merge_in_the_order_of_a_field() -> None:
    found = [
        config("a", {"rank": 2.0, "from": "a"}),
        config("b", {"rank": 1.0, "from": "b"}),
        config("c", {"from": "c", "only": "c"}),
    ]
    by_rank = selector(value(), mode="Multiple", sortByFieldPath="data.rank")
    assert environment(run(by_rank, found=[found])) == {"rank": 2.0, "from": "a", "only": "c"}, "none is zero"
    by_name = selector(value(), mode="Multiple")
    assert environment(run(by_name, found=[found[::-1]]))["from"] == "c", "the name orders by default"


def test_at_most_so_many_configs_count() -> None:
    found = [config("b", {"from": "b"}), config("a", {"from": "a"})]
    first = selector(value(), mode="Multiple", maxMatch=1.0)
    assert environment(run(first, found=[found])) == {"from": "a"}


def test_a_source_that_asked_for_nothing_is_passed_over() -> None:
    optional = selector({"key": "x", "valueFromFieldPath": "spec.none", "fromFieldPathPolicy": "Optional"})
    response = environment_configs.run(
        Request(
            State(Resource(XR)),
            input={"spec": {"environmentConfigs": [optional, reference()]}},
            required_resources={"environment-config-1": (Resource(config("base", {"a": 1.0})),)},
        )
    )
    assert environment(response) == {"a": 1.0}


PROCESSING = "cannot get selected environment configs: cannot process environment config "
BY_SELECTOR = PROCESSING + '"environment-config-0" by selector: '
BY_REFERENCE = PROCESSING + '"base" by reference, "environment-config-0": '
MERGING = "cannot merge environment data: cannot get data from environment config "


@pytest.mark.parametrize(
    ("source", "found", "sentence"),
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
    source: dict[str, Any], found: list[Any], sentence: str
) -> None:
    response = run(source, found=[found])
    assert failure(response) == sentence
    assert response.requirements is not None, (
        "the question stays the same, so that the engine does not ask again"
    )


def test_a_reference_may_be_optional() -> None:
    response = run(reference(), found=[[]], policy={"resolution": "Optional"})
    assert environment(response) == {}


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


def test_data_of_any_depth_merges() -> None:
    deep: Any = 1.0
    for _ in range(100_000):
        deep = {"a": deep}
    merged = merge(deep, deep)
    for _ in range(100_000):
        merged = merged["a"]
    assert merged == 1.0


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
def test_no_input_and_no_answer_makes_it_raise(sources: Any, found: list[Any], loose: Any) -> None:
    fetched = [[{"data": each, "metadata": loose} for each in found]] * 3
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
