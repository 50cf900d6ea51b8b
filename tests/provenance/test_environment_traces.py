"""`explain` of the environment: the EnvironmentConfig that a value is from, and what selected it."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin.environment_configs.function import run as run_environment_configs
from crossply.functions.builtin.patch_and_transform.function import run as run_patches
from crossply.functions.field_provenance import CONDITION, ENVIRONMENT_KEY, SourceField
from crossply.provenance.call_recorder import StepCall
from crossply.provenance.pipeline import explain_pipeline
from tests.support.functions.environment_configs import config, reference, selector, value

XR: dict[str, Any] = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "web"},
    "spec": {"stage": "prod"},
}
BASE = {"apiVersion": "v1", "kind": "ConfigMap"}
BY_STAGE = {"key": "stage", "type": "FromCompositeFieldPath", "valueFromFieldPath": "spec.stage"}
EU = config("eu", {"region": "eu-central-1", "net": {"zone": "a"}})
PROD = config("prod", {"size": "large", "net": {"cidr": "10.0.0.0/8"}})


def sources_of(
    path: str, sources: list[Any], fetched: list[list[Any]], context: Any = None, **spec: Any
) -> tuple[SourceField, ...]:
    """The sources of a value that is patched from a field of the environment."""
    composite = State(Resource(XR))
    step_input = {
        "apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1",
        "kind": "Input",
        "spec": {"environmentConfigs": sources, **spec},
    }
    required = {
        f"environment-config-{index}": tuple(map(Resource, group)) for index, group in enumerate(fetched)
    }
    request = Request(composite, State(), input=step_input, required_resources=required, context=context)
    response = run_environment_configs(request)
    patch = {"type": "FromEnvironmentFieldPath", "fromFieldPath": path, "toFieldPath": "data.value"}
    resources = {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "resources": [{"name": "cm", "base": BASE, "patches": [patch]}],
    }
    later = Request(composite, State(), input=resources, context=response.context)
    calls = [
        StepCall("environment", "function-environment-configs", request, response),
        StepCall("compose", "function-patch-and-transform", later, run_patches(later)),
    ]
    source = explain_pipeline(calls).of("cm", "data.value")
    assert source is not None
    assert source.sources[0] == SourceField("environment", path)
    return source.sources[1:]


def test_a_value_names_the_config_that_it_is_from():
    sources, fetched = [reference("eu"), reference("prod")], [[EU], [PROD]]
    assert sources_of("region", sources, fetched) == (SourceField("EnvironmentConfig/eu", "data.region"),)
    assert sources_of("net.zone", sources, fetched) == (SourceField("EnvironmentConfig/eu", "data.net.zone"),)
    assert sources_of("net.cidr", sources, fetched) == (
        SourceField("EnvironmentConfig/prod", "data.net.cidr"),
    )


def test_the_last_config_with_a_field_is_named():
    other = config("other", {"region": "us"})
    sources = sources_of("region", [reference("eu"), reference("other")], [[EU], [other]])
    assert sources == (SourceField("EnvironmentConfig/other", "data.region"),)


def test_data_that_are_put_at_a_path_are_named_by_their_path_in_the_config():
    sources = sources_of("sites.eu.net.zone", [reference("eu", toFieldPath="sites.eu")], [[EU]])
    assert sources == (SourceField("EnvironmentConfig/eu", "data.net.zone"),)


def test_items_of_lists_are_named():
    zones = config("zones", {"zones": [{"name": "a"}, {"name": "b"}]})
    sources = sources_of("zones[1].name", [reference("zones")], [[zones]])
    assert sources == (SourceField("EnvironmentConfig/zones", "data.zones[1].name"),)


def test_the_field_of_the_label_decides_about_its_config_and_earlier_ones():
    sources, fetched = [reference("eu"), selector(BY_STAGE)], [[EU], [PROD]]
    stage = SourceField("composite", "spec.stage", CONDITION)
    assert sources_of("size", sources, fetched) == (SourceField("EnvironmentConfig/prod", "data.size"), stage)
    assert sources_of("region", sources, fetched) == (
        SourceField("EnvironmentConfig/eu", "data.region"),
        stage,
    )
    later = [selector(BY_STAGE), reference("eu")]
    assert sources_of("region", later, [[PROD], [EU]]) == (
        SourceField("EnvironmentConfig/eu", "data.region"),
    )


def test_the_field_that_configs_are_sorted_by_decides_which_is_last():
    configs = [config(name, {"size": name, "rank": name}) for name in ("a", "b")]
    sources = sources_of("size", [selector(value(), mode="Multiple", sortByFieldPath="data.rank")], [configs])
    assert sources == (
        SourceField("EnvironmentConfig/b", "data.size"),
        SourceField("EnvironmentConfig/a", "data.rank", CONDITION),
        SourceField("EnvironmentConfig/b", "data.rank", CONDITION),
    )


def test_default_data_have_no_other_source():
    assert sources_of("tier", [reference("eu")], [[EU]], defaultData={"tier": "free"}) == ()


def test_what_the_environment_had_before_is_not_said_to_be_of_a_config():
    context = {ENVIRONMENT_KEY: {"tier": "gold", "region": "us"}}
    assert sources_of("tier", [reference("eu")], [[EU]], context) == ()
    assert sources_of("region", [reference("eu")], [[EU]], context) == (
        SourceField("EnvironmentConfig/eu", "data.region"),
    )
