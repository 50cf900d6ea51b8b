"""extra-resources: its requirements, the context that it writes, and when it fails."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    State,
)
from crossply.functions.builtin import extra_resources
from crossply.functions.builtin.extra_resources import CONTEXT_KEY

XR = {"apiVersion": "example.org/v1", "kind": "XApp", "spec": {"team": "a"}}


def thing(name: str, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": name}, **rest}


def source(into: str = "things", **rest: Any) -> dict[str, Any]:
    return {"apiVersion": "example.org/v1", "kind": "Thing", "into": into, **rest}


def reference(into: str = "things", name: str = "one", **rest: Any) -> dict[str, Any]:
    return source(into, type="Reference", ref={"name": name}, **rest)


def selector(into: str = "things", **rest: Any) -> dict[str, Any]:
    labels = {"matchLabels": [{"type": "Value", "key": "tier", "value": "gold"}]}
    return source(into, type="Selector", selector={**labels, **rest})


def run(
    *sources: Any, fetched: dict[str, list[dict[str, Any]]] | None = None, context: Any = None, **spec: Any
) -> Response:
    """Run the step; `fetched` is what the engine fetched under each name, None before it has."""
    return extra_resources.run(
        Request(
            State(Resource(XR)),
            input={"spec": {"extraResources": list(sources), **spec}},
            required_resources={name: tuple(map(Resource, group)) for name, group in (fetched or {}).items()},
            context=context,
        )
    )


def failure(response: Response) -> str:
    (result,) = response.results
    assert result.severity == SEVERITY_FATAL
    return result.message


def test_the_first_call_only_sets_requirements() -> None:
    response = run(
        reference("one"),
        source("plain", ref={"name": "two"}),
        selector("many"),
        reference("spaced", namespace="team-a"),
        context={"kept": 1.0},
    )
    resource_selector = ResourceSelector("example.org/v1", "Thing")
    assert response.requirements == Requirements(
        resources={
            "one": resource_selector._replace(match_name="one"),
            "plain": resource_selector._replace(match_name="two"),
            "many": resource_selector._replace(match_labels={"tier": "gold"}),
            "spaced": resource_selector._replace(match_name="one", namespace="team-a"),
        }
    )
    assert response.context == {"kept": 1.0}
    assert response.results == ()


@pytest.mark.parametrize(
    ("matchers", "labels", "reason"),
    [
        (
            [{"key": "team", "valueFromFieldPath": "spec.team"}],
            {"team": "a"},
            "the composite is read by default",
        ),
        (
            [{"key": "x", "valueFromFieldPath": "spec.none", "fromFieldPathPolicy": "Optional"}],
            None,
            "without any label the selector asks for nothing",
        ),
        ([], None, "no labels, no question"),
    ],
)
def test_labels_come_from_the_step_or_the_composite(
    matchers: list[dict[str, Any]], labels: dict[str, str] | None, reason: str
) -> None:
    response = run(source(type="Selector", selector={"matchLabels": matchers}))
    assert response.requirements is not None
    resource_selector = response.requirements.resources.get("things")
    assert (resource_selector and resource_selector.match_labels) == labels, reason


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            source(
                type="Selector", selector={"matchLabels": [{"key": "x", "valueFromFieldPath": "spec.none"}]}
            ),
            'cannot get value from field path "spec.none": spec.none: no such field',
        ),
        (
            source(type="Selector", selector={"matchLabels": [{"type": "Value", "key": "x"}]}),
            "Value cannot be nil for type 'Value'",
        ),
        (
            source(type="Selector", selector={"matchLabels": [{"key": "x"}]}),
            "ValueFromFieldPath cannot be nil for type 'FromCompositeFieldPath'",
        ),
        (source(type="Reference"), "ref cannot be nil for type 'Reference'"),
        (source(type="Selector"), "selector cannot be nil for type 'Selector'"),
    ],
)
def test_an_invalid_selector_is_fatal(wrong: dict[str, Any], sentence: str) -> None:
    assert failure(run(wrong)) == f"could not build extra resource requirements: {sentence}"


def test_fetched_resources_go_into_the_context_by_name() -> None:
    resources = {"one": [thing("one")], "many": [thing("b"), thing("a")], "none": []}
    response = run(
        reference("one"), selector("many"), selector("none"), fetched=resources, context={"kept": 1.0}
    )
    assert response.context == {
        "kept": 1.0,
        CONTEXT_KEY: {"one": [thing("one")], "many": [thing("a"), thing("b")]},
    }, "in the order of their names; a group without any has no entry"


def test_objects_are_sorted_by_a_field_and_the_first_count() -> None:
    resources = {"things": [thing("a", rank=3.0), thing("b", rank=1.0), thing("c")]}
    response = run(selector(sortByFieldPath="rank", maxMatch=2.0), fetched=resources)
    assert response.context == {CONTEXT_KEY: {"things": [thing("c"), thing("b", rank=1.0)]}}


def test_an_optional_reference_may_be_missing() -> None:
    response = run(reference(), fetched={"things": []}, policy={"resolution": "Optional"})
    assert response.context == {CONTEXT_KEY: {}}


@pytest.mark.parametrize(
    ("source_input", "objects", "sentence"),
    [
        (reference(), [], 'Required extra resource "things" not found'),
        (reference(), [thing("a"), thing("b")], 'expected exactly one extra resource "things", got 2'),
        (selector(minMatch=2.0), [thing("a")], 'expected at least 2 extra resources "things", got 1'),
        (
            selector(sortByFieldPath="x"),
            [thing("a", x=1.0), thing("b", x="1")],
            'cannot sort values of different types "float64" and "string"',
        ),
        (
            selector(sortByFieldPath="metadata"),
            [thing("a"), thing("b")],
            'unsupported type "map[string]interface {}" for sorting',
        ),
    ],
)
def test_an_answer_that_does_not_fit_is_fatal(
    source_input: dict[str, Any], objects: list[Any], sentence: str
) -> None:
    response = run(source_input, fetched={"things": objects})
    assert failure(response) == f"verifying and sorting extra resources: {sentence}"
    assert response.requirements is not None, (
        "the question stays the same, so that the engine does not ask again"
    )


def test_an_answer_to_another_question_is_fatal() -> None:
    response = run(reference(), fetched={"other": []})
    assert (
        failure(response)
        == 'verifying and sorting extra resources: cannot find expected extra resource "things"'
    )


def test_an_input_that_cannot_be_read_is_fatal() -> None:
    assert failure(run(source(toFieldPath="x"))) == (
        "cannot get Function input from *v1.RunFunctionRequest: "
        "cannot get function input *v1beta1.Input from *v1.RunFunctionRequest: cannot unmarshal JSON from "
        "*structpb.Struct into *v1beta1.Input: json: cannot unmarshal "
        'Go value of type v1beta1.ResourceSource: unknown name "toFieldPath"'
    )


TEXTS = ["Reference", "Selector", "Value", "Optional", "spec.team", "x", "a[", "things", ""]
LOOSE = st.recursive(
    st.none() | st.booleans() | st.floats() | st.sampled_from(TEXTS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "ref", "selector", "into", "name", "x", "extraResources"]), inner
        )
    ),
    max_leaves=12,
)
SOURCE = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(TEXTS),
        "into": st.sampled_from(TEXTS),
        "ref": st.fixed_dictionaries({}, optional={"name": st.sampled_from(TEXTS)}),
        "selector": st.fixed_dictionaries(
            {},
            optional={
                "minMatch": st.integers(0, 3),
                "maxMatch": st.integers(0, 3),
                "sortByFieldPath": st.sampled_from(TEXTS),
                "matchLabels": st.lists(
                    st.fixed_dictionaries(
                        {"key": st.sampled_from(TEXTS)},
                        optional={
                            "type": st.sampled_from(TEXTS),
                            "value": LOOSE,
                            "valueFromFieldPath": LOOSE,
                        },
                    ),
                    max_size=2,
                ),
            },
        ),
    },
)


@given(st.lists(SOURCE, max_size=3) | LOOSE, st.lists(LOOSE, max_size=3), LOOSE)
def test_no_input_and_no_answer_makes_it_raise(sources: Any, values: list[Any], loose: Any) -> None:
    group = tuple(Resource({"x": value, "metadata": loose}) for value in values)
    for spec in ({"extraResources": sources}, loose):
        request = Request(
            State(Resource(XR)),
            input={"spec": spec},
            required_resources=dict.fromkeys(TEXTS, group),
            context={CONTEXT_KEY: loose},
        )
        assert isinstance(extra_resources.run(request), Response)
