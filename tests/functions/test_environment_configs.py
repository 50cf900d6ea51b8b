"""environment-configs: how it chooses from what was fetched, and how the data merges."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin.environment_configs import function as environment_configs
from crossply.functions.builtin.environment_configs.function import CONTEXT_KEY
from crossply.functions.builtin.environment_configs.merge import merge
from tests.support.functions.environment_configs import (
    KIND,
    XR,
    config,
    environment,
    reference,
    run,
    selector,
    value,
)


def test_a_later_config_wins_and_objects_merge() -> None:
    base = config("base", {"region": "eu", "net": {"a": 1.0, "b": 1.0}, "list": [1.0]})
    over = config("over", {"region": "us", "net": {"b": 2.0}, "list": [2.0]})
    response = run(reference("base"), reference("over"), fetched=[[base], [over]])
    assert response.context == {
        CONTEXT_KEY: {**KIND, "region": "us", "net": {"a": 1.0, "b": 2.0}, "list": [2.0]}
    }
    assert base["data"]["net"] == {"a": 1.0, "b": 1.0}, "what was fetched stays as it was"


def test_configs_win_over_the_incoming_context_and_that_over_defaults() -> None:
    response = run(
        reference(),
        fetched=[[config("base", {"a": "config"})]],
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
    response = run(reference(), fetched=[[config("base", data)]])
    assert response.context == {CONTEXT_KEY: expected}, reason


def test_data_goes_where_the_source_points_to() -> None:
    response = run(
        reference(toFieldPath="net.eu"),
        reference("b"),
        fetched=[[config("a", {"x": 1.0})], [config("b", {"y": 2.0})]],
    )
    assert environment(response) == {"net": {"eu": {"x": 1.0}}, "y": 2.0}


def test_many_configs_merge_in_the_order_of_a_field() -> None:
    configs = [
        config("a", {"rank": 2.0, "from": "a"}),
        config("b", {"rank": 1.0, "from": "b"}),
        config("c", {"from": "c", "only": "c"}),
    ]
    by_rank = selector(value(), mode="Multiple", sortByFieldPath="data.rank")
    assert environment(run(by_rank, fetched=[configs])) == {"rank": 2.0, "from": "a", "only": "c"}, (
        "none is zero"
    )
    by_name = selector(value(), mode="Multiple")
    assert environment(run(by_name, fetched=[configs[::-1]]))["from"] == "c", "the name orders by default"


def test_at_most_so_many_configs_count() -> None:
    configs = [config("b", {"from": "b"}), config("a", {"from": "a"})]
    first = selector(value(), mode="Multiple", maxMatch=1.0)
    assert environment(run(first, fetched=[configs])) == {"from": "a"}


def test_a_source_that_selected_nothing_is_skipped() -> None:
    optional = selector({"key": "x", "valueFromFieldPath": "spec.none", "fromFieldPathPolicy": "Optional"})
    response = environment_configs.run(
        Request(
            State(Resource(XR)),
            input={"spec": {"environmentConfigs": [optional, reference()]}},
            required_resources={"environment-config-1": (Resource(config("base", {"a": 1.0})),)},
        )
    )
    assert environment(response) == {"a": 1.0}


def test_a_reference_may_be_optional() -> None:
    response = run(reference(), fetched=[[]], policy={"resolution": "Optional"})
    assert environment(response) == {}


def test_data_of_any_depth_merges() -> None:
    deep: Any = 1.0
    for _ in range(100_000):
        deep = {"a": deep}
    merged = merge(deep, deep)
    for _ in range(100_000):
        merged = merged["a"]
    assert merged == 1.0
