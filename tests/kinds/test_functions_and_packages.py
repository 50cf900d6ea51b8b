"""Functions, their revisions, Configurations and EnvironmentConfigs."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.kinds.composition import Step
from crossply.kinds.configuration import parse_configuration
from crossply.kinds.environment import EnvironmentConfig, EnvironmentConfigError, parse_environment_config
from crossply.kinds.fields import KindError
from crossply.kinds.function import (
    FunctionRevision,
    can_compose,
    choose_revision,
    parse_function,
    parse_function_revision,
    to_activate,
)
from crossply.kinds.package import PackageError


def revision(number: int, *, active: bool = True, function: str = "f", **labels: str) -> FunctionRevision:
    return parse_function_revision(
        {
            "metadata": {
                "name": f"{function}-{number}",
                "labels": {"pkg.crossplane.io/package": function, **labels},
            },
            "spec": {"image": "i", "revision": number, "desiredState": "Active" if active else "Inactive"},
            "status": {"endpoint": "dns:///f", "capabilities": ["Composition!"]},
        }
    )


REVISIONS = [
    revision(1, channel="stable"),
    revision(3, channel="alpha"),
    revision(2, channel="alpha"),
    revision(4, active=False, channel="alpha"),
    revision(9, function="other", channel="alpha"),
]


@pytest.mark.parametrize(
    ("step", "chosen", "reason"),
    [
        (Step("s", "f"), "f-3", "the newest active one"),
        (Step("s", "f", function_revision_ref="f-1"), "f-1", "the one that is named"),
        (Step("s", "f", function_revision_ref="f-4"), None, "an inactive one serves nobody"),
        (Step("s", "f", function_revision_ref="f-7"), None, "there is none of this name"),
        (Step("s", "f", function_revision_selector={"channel": "stable"}), "f-1", "labels select"),
        (Step("s", "f", function_revision_selector={"channel": "beta"}), None, "nothing is selected"),
        (
            Step("s", "f", function_revision_ref="f-2", function_revision_selector={"channel": "stable"}),
            "f-2",
            "a name beats labels",
        ),
        (Step("s", "missing"), None, "the function is not installed"),
    ],
)
def test_a_step_is_sent_to_one_active_revision(step: Step, chosen: str | None, reason: str) -> None:
    found = choose_revision(REVISIONS, step)
    assert (found.name if found else None) == chosen, reason


@pytest.mark.parametrize(
    ("spec", "active"),
    [
        ({}, {"f-4"}),
        ({"revisionHistoryLimit": 3, "activeRevisionLimit": 2}, {"f-4", "f-3"}),
        ({"revisionActivationPolicy": "Manual"}, {"f-1", "f-2", "f-3"}),
    ],
)
def test_the_newest_revisions_are_activated_up_to_the_limit(spec: Any, active: set[str]) -> None:
    own = [found for found in REVISIONS if found.function == "f"]
    assert to_activate(own, parse_function({"spec": spec})) == active


def test_a_capability_is_compared_loosely() -> None:
    assert can_compose(revision(1))
    assert not can_compose(revision(1)._replace(capabilities=("operation",)))


def test_a_function_has_the_defaults_of_a_package() -> None:
    function = parse_function(
        {"metadata": {"name": "f", "annotations": {"a": "b"}}, "spec": {"package": "registry.test/a/b:v1"}}
    )
    assert (function.name, function.package, function.annotations) == (
        "f",
        "registry.test/a/b:v1",
        {"a": "b"},
    )
    assert (function.pull_policy, function.activation_policy) == ("IfNotPresent", "Automatic")
    assert (function.history_limit, function.active_limit) == (1, 1)


def test_limits_of_active_revisions_are_checked() -> None:
    with pytest.raises(
        PackageError, match="activeRevisionLimit: must not be greater than revisionHistoryLimit"
    ):
        parse_function({"spec": {"activeRevisionLimit": 3, "revisionHistoryLimit": 2}})
    with pytest.raises(PackageError, match="activeRevisionLimit: must be 1"):
        parse_configuration({"spec": {"activeRevisionLimit": 2, "revisionHistoryLimit": 2}})


def test_an_environment_config_is_named_data() -> None:
    obj = {"metadata": {"name": "e", "labels": {"env": "dev"}}, "data": {"region": "eu"}}
    assert parse_environment_config(obj) == EnvironmentConfig("e", {"env": "dev"}, {"region": "eu"})
    with pytest.raises(EnvironmentConfigError, match="data: must be an object, not a list"):
        parse_environment_config({"data": []})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)
SPEC = st.fixed_dictionaries(
    {}, optional={"package": JSON, "revisionHistoryLimit": JSON, "packagePullSecrets": JSON, "revision": JSON}
)


@given(
    st.fixed_dictionaries({}, optional={"metadata": JSON, "spec": SPEC | JSON, "status": JSON, "data": JSON})
)
def test_no_json_value_breaks_these_parsers(obj: Any) -> None:
    for parse in (parse_function, parse_function_revision, parse_configuration, parse_environment_config):
        with contextlib.suppress(KindError):
            parse(obj)
