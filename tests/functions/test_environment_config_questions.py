"""environment-configs: its requirements, and selectors that cannot be resolved."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import Request, Requirements, Resource, ResourceSelector, State
from crossply.functions.builtin.environment_configs import function as environment_configs
from crossply.functions.builtin.environment_configs.function import CONTEXT_KEY
from tests.support.functions.environment_configs import (
    XR,
    failure,
    reference,
    requirements,
    run,
    selector,
    value,
)

API = ("apiextensions.crossplane.io/v1beta1", "EnvironmentConfig")


def test_the_first_call_only_sets_requirements() -> None:
    response = run(reference("base"), {"ref": {"name": "over"}}, selector(value()), context={"kept": 1.0})
    assert requirements(response) == {
        "environment-config-0": ResourceSelector(*API, match_name="base"),
        "environment-config-1": ResourceSelector(*API, match_name="over"),
        "environment-config-2": ResourceSelector(*API, match_labels={"tier": "base"}),
    }
    assert response.context == {"kept": 1.0}


def test_nothing_to_gather_sends_no_request() -> None:
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
    assert requirements(response) == expected, reason


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
def test_an_invalid_selector_is_fatal(source: dict[str, Any], sentence: str) -> None:
    assert failure(run(source)) == f"cannot build requirements: {sentence}"
