import pytest

from crossply.compose.object_metadata import name_of
from crossply.functions.host_access_policy import HostAccess
from crossply.ui.playground.platform import Platform, UnrenderableKind, schema_at, why_not_runnable
from tests.support.ui.shop_platform import (
    DATABASE_COMPOSITION,
    DATABASES,
    FUNCTIONS,
    SHOP_COMPOSITION,
    SHOPS,
    VERSION,
    function,
    shop,
)

SECOND = {**SHOP_COMPOSITION, "metadata": {"name": "cheap", "labels": {"tier": "cheap"}}}
PLATFORM = Platform([SHOPS, DATABASES], [SHOP_COMPOSITION, SECOND, DATABASE_COMPOSITION], FUNCTIONS)


def _annotated(**annotations: str) -> dict:
    own = function("function-own")
    named = {f"crossply.dev/{key}": value for key, value in annotations.items()}
    return {
        **own,
        "metadata": {**own["metadata"], "annotations": named},
        "spec": {"package": "example.org/own:v1"},
    }


def test_a_composite_resource_gets_the_composition_that_it_names():
    assert (
        PLATFORM.composition_for(shop("mine", crossplane={"compositionRef": {"name": "shop"}})).name == "shop"
    )


def test_a_composite_resource_gets_the_composition_that_its_selector_selects():
    selector = {"compositionSelector": {"matchLabels": {"tier": "cheap"}}}
    assert PLATFORM.composition_for(shop("mine", crossplane=selector)).name == "cheap"


def test_the_first_of_several_compositions_is_chosen_so_that_a_rendering_can_be_repeated():
    assert PLATFORM.composition_for(shop("mine")).name == "cheap"
    assert PLATFORM.compositions_of(SHOPS) == ["cheap", "shop"]


def test_a_kind_without_a_definition_or_composition_is_refused():
    with pytest.raises(UnrenderableKind, match="no definition defines ConfigMap"):
        PLATFORM.composition_for({"apiVersion": "v1", "kind": "ConfigMap"})
    with pytest.raises(UnrenderableKind, match='no Composition "database" for Shop'):
        PLATFORM.composition_for(shop("mine"), "database")


def test_definitions_and_compositions_that_cannot_be_read_are_passed_over():
    platform = Platform([{"spec": 1}], [{"spec": []}], [])
    assert platform.definition_of(shop("mine")) is None


def test_the_schema_has_the_fields_of_the_definition_and_those_of_the_engine():
    spec = schema_at(SHOPS, VERSION)["properties"]["spec"]["properties"]
    assert {"region", "crossplane"} <= set(spec)
    assert schema_at(SHOPS, "shop.example.org/v7") == {}


@pytest.mark.parametrize(
    "annotations",
    [
        {"command": "rm -rf /", "runtime": "process"},
        {"file": "/etc/passwd"},
        {"templates": "/etc"},
    ],
)
def test_a_function_of_the_cluster_that_names_something_of_this_machine_is_not_run(
    annotations: dict[str, str],
):
    assert why_not_runnable(_annotated(**annotations), HostAccess())


def test_images_are_not_run_and_built_in_functions_are():
    assert why_not_runnable(_annotated(), HostAccess()).startswith("only built-in functions")
    assert [why_not_runnable(function, HostAccess()) for function in FUNCTIONS] == ["", "", ""]


def test_commands_are_not_run() -> None:
    package = "xpkg.crossplane.io/crossplane-contrib/function-shell:v0.6.0"
    function = {"metadata": {"name": "sh"}, "spec": {"package": package}}
    assert (
        why_not_runnable(function, HostAccess())
        == "function-shell runs commands, and the playground runs none"
    )


def test_the_functions_of_a_pipeline_are_those_that_its_steps_name():
    composition = PLATFORM.composition_for(shop("mine"))
    assert [name_of(function) for function in PLATFORM.functions_of(composition, HostAccess())] == sorted(
        name_of(function) for function in FUNCTIONS
    )


def test_a_composition_that_runs_containers_is_refused():
    container = {"name": "paint", "type": "Container", "container": {"image": "example.org/paint:v1"}}
    spec = {
        "compositeTypeRef": SHOP_COMPOSITION["spec"]["compositeTypeRef"],
        "resources": [{"name": "a", "base": {"apiVersion": "v1", "kind": "ConfigMap"}}],
        "functions": [container],
    }
    composition = {**SHOP_COMPOSITION, "metadata": {"name": "painted"}, "spec": spec}
    platform = Platform([SHOPS], [composition], FUNCTIONS)
    with pytest.raises(UnrenderableKind, match=r"runs containers \(paint\), and the playground runs none"):
        platform.composition_for(shop("mine"))
