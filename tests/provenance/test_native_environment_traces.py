"""`explain` of the environment of `mode: Resources`: the EnvironmentConfig of a value, and why this one."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin.patch_and_transform.field_provenance import trace_native
from crossply.functions.builtin.patch_and_transform.resources_mode import API_VERSION, KIND, run_native
from crossply.functions.field_provenance import CONDITION, ENVIRONMENT_KEY, SourceField
from crossply.kinds.composition_native_step import ENVIRONMENT_REFERENCES, NATIVE_FUNCTION
from crossply.provenance.call_recorder import StepCall
from crossply.provenance.pipeline import explain_pipeline
from crossply.values import Object
from tests.support.functions.environment_configs import config, reference, selector, value

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "web"},
    "spec": {"stage": "prod"},
}
BASE = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"value": "none"}}
BY_STAGE = {"key": "stage", "type": "FromCompositeFieldPath", "valueFromFieldPath": "spec.stage"}
EU = config("eu", {"region": "eu-central-1", "net": {"zone": "a"}, "kind": "Settings"})
PROD = config("prod", {"size": "large", "net": {"cidr": "10.0.0.0/8"}})
STAGE = SourceField("composite", "spec.stage", CONDITION)
ANNOTATION = SourceField("composite", f"metadata.annotations[{ENVIRONMENT_REFERENCES}]", CONDITION)
REFERENCES = SourceField("composite", "spec.environmentConfigRefs", CONDITION)


def sources_of(
    path: str,
    sources: list[Object],
    fetched: list[list[Object]],
    *patches: Object,
    xr: Object = XR,
    resolve: str = "Always",
    context: Object | None = None,
    **environment: Any,
) -> tuple[SourceField, ...]:
    """The sources of a value that is patched from a field of the environment."""
    patch = {"type": "FromEnvironmentFieldPath", "fromFieldPath": path, "toFieldPath": "data.value"}
    function_input = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "environment": {"environmentConfigs": sources, "policy": {"resolve": resolve}, **environment},
        "resources": [{"name": "cm", "base": BASE, "patches": [*patches, patch]}],
    }
    required = {
        f"environment-config-{index}": tuple(map(Resource, group)) for index, group in enumerate(fetched)
    }
    request = Request(
        State(Resource(xr)), State(), input=function_input, required_resources=required, context=context
    )
    response = run_native(request)
    assert not response.results, response.results
    source = explain_pipeline([StepCall("resources", NATIVE_FUNCTION, request, response)]).of(
        "cm", "data.value"
    )
    assert source is not None
    assert source.sources[0][:2] == ("environment", path)
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


def test_default_data_and_what_render_has_in_the_context_are_not_said_to_be_of_a_config():
    assert sources_of("tier", [reference("eu")], [[EU]], defaultData={"tier": "free"}) == ()
    context = {ENVIRONMENT_KEY: {"tier": "gold", "region": "us"}}
    assert sources_of("tier", [reference("eu")], [[EU]], context=context) == ()
    assert sources_of("region", [reference("eu")], [[EU]], context=context) == (
        SourceField("EnvironmentConfig/eu", "data.region"),
    )


def test_the_kind_of_the_environment_is_not_that_of_a_config():
    assert sources_of("kind", [reference("eu")], [[EU]]) == ()


def test_the_field_of_the_label_decides_about_its_config_and_earlier_ones():
    sources, fetched = [reference("eu"), selector(BY_STAGE)], [[EU], [PROD]]
    eu_region = SourceField("EnvironmentConfig/eu", "data.region")
    assert sources_of("size", sources, fetched) == (SourceField("EnvironmentConfig/prod", "data.size"), STAGE)
    assert sources_of("region", sources, fetched) == (eu_region, STAGE)
    assert sources_of("region", [selector(BY_STAGE), reference("eu")], [[PROD], [EU]]) == (eu_region,)


def test_the_field_of_the_label_decides_about_what_no_config_has():
    assert sources_of("missing", [selector(BY_STAGE)], [[PROD]]) == (STAGE,)
    assert sources_of("tier", [selector(BY_STAGE)], [[PROD]], defaultData={"tier": "free"}) == (STAGE,)


def test_the_field_that_configs_are_sorted_by_decides_which_is_last():
    configs = [config(name, {"size": name, "rank": name}) for name in ("a", "b")]
    several = selector(value(), mode="Multiple", sortByFieldPath="data.rank")
    assert sources_of("size", [several], [configs]) == (
        SourceField("EnvironmentConfig/b", "data.size"),
        SourceField("EnvironmentConfig/a", "data.rank", CONDITION),
        SourceField("EnvironmentConfig/b", "data.rank", CONDITION),
    )
    by_name = selector(value(), mode="Multiple")
    assert sources_of("size", [by_name], [configs]) == (SourceField("EnvironmentConfig/b", "data.size"),)


def test_what_the_xr_keeps_decides_instead_of_the_label():
    selected = {**XR, "metadata": {"name": "web", "annotations": {ENVIRONMENT_REFERENCES: "prod"}}}
    size = SourceField("EnvironmentConfig/prod", "data.size")
    sources = [selector(BY_STAGE)]
    assert sources_of("size", sources, [[PROD]], xr=selected, resolve="IfNotPresent") == (size, ANNOTATION)
    assert sources_of("size", sources, [[PROD]], xr=selected) == (size, STAGE)


def test_an_xr_that_keeps_nothing_yet_names_where_it_would():
    sources = sources_of("region", [reference("eu")], [[EU]], resolve="IfNotPresent")
    assert sources == (SourceField("EnvironmentConfig/eu", "data.region"), ANNOTATION, REFERENCES)


def test_a_field_that_a_patch_wrote_to_the_environment_is_not_of_a_config():
    copied = {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.stage", "toFieldPath": "data.stage"}
    written = {"type": "ToEnvironmentFieldPath", "fromFieldPath": "data.stage", "toFieldPath": "region"}
    sources = sources_of("region", [reference("eu")], [[EU]], copied, written)
    assert sources == (SourceField("desired/cm", "data.stage"), SourceField("composite", "spec.stage"))


def test_a_required_patch_decides_about_what_later_ones_write_to_the_environment():
    needed = {
        "type": "FromCompositeFieldPath",
        "fromFieldPath": "spec.stage",
        "toFieldPath": "data.stage",
        "policy": {"fromFieldPath": "Required"},
    }
    written = {"type": "ToEnvironmentFieldPath", "fromFieldPath": "kind", "toFieldPath": "region"}
    assert STAGE in sources_of("region", [reference("eu")], [[EU]], needed, written)


def test_an_invalid_path_is_not_traced_further():
    patch = {"type": "ToEnvironmentFieldPath", "fromFieldPath": "data[", "toFieldPath": "region"}
    function_input = {
        "environment": {"environmentConfigs": [reference("eu")]},
        "resources": [{"name": "cm", "base": BASE, "patches": [patch]}],
    }
    required = {"environment-config-0": (Resource(EU),)}
    request = Request(State(Resource(XR)), State(), input=function_input, required_resources=required)
    traced = trace_native(request)
    assert traced is not None
    assert traced.resources == {}
