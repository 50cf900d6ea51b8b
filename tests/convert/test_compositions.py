"""Compositions of older forms become pipelines."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.convert.conversion_result import ConversionError, Converted
from crossply.convert.current_composition import FunctionNames, current_composition
from crossply.convert.environment import environment_to_function
from crossply.convert.pipeline import explicit_patch, explicit_template, resources_to_pipeline

NAMES = FunctionNames()


def composition(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "c"},
        "spec": {"compositeTypeRef": {"apiVersion": "acme.test/v1", "kind": "XCache"}, **spec},
    }


def spec_of(converted: Converted | None) -> dict[str, Any]:
    assert converted is not None
    spec: dict[str, Any] = converted.value["spec"]
    return spec


def test_an_environment_becomes_the_first_step() -> None:
    original = composition(
        mode="Pipeline",
        environment={
            "defaultData": {"zone": "a"},
            "environmentConfigs": [{"ref": {"name": "e"}}],
            "patches": [{"fromFieldPath": "a"}],
            "policy": {"resolution": "Optional", "resolve": "Always"},
        },
        pipeline=[{"step": "old"}],
    )
    spec = spec_of(environment_to_function(original, "my-environments"))
    assert "environment" not in spec
    assert spec["pipeline"] == [
        {
            "step": "environment-configs",
            "functionRef": {"name": "my-environments"},
            "input": {
                "apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1",
                "kind": "Input",
                "spec": {
                    "defaultData": {"zone": "a"},
                    "environmentConfigs": [{"ref": {"name": "e"}}],
                    "policy": {"resolution": "Optional"},
                },
            },
        },
        {"step": "old"},
    ]
    assert original["spec"]["environment"], "the input is not changed"


@pytest.mark.parametrize(
    ("policy", "left_out"),
    [
        ({"resolve": "IfNotPresent"}, ("spec.environment.policy.resolve",)),
        ({"resolve": "Always"}, ()),
        ({}, ()),
        (None, ()),
    ],
)
def test_a_policy_that_the_function_does_not_have_is_left_out(policy: object, left_out: tuple[str]) -> None:
    environment = {"defaultData": {"zone": "a"}, "policy": policy}
    converted = environment_to_function(
        composition(mode="Pipeline", pipeline=[], environment=environment), ""
    )
    assert converted is not None
    assert converted.left_out == left_out


@pytest.mark.parametrize(
    "environment", [None, {}, {"policy": {"resolve": "Always"}}, {"patches": []}, "nonsense"]
)
def test_an_environment_that_selects_nothing_needs_no_step(environment: object) -> None:
    original = composition(mode="Pipeline", pipeline=[], environment=environment)
    assert environment_to_function(original, "") is None


@pytest.mark.parametrize(
    ("original", "sentence"),
    [
        ({}, "GroupVersionKind is empty"),
        ({"apiVersion": "v1", "kind": "Pod"}, "GroupVersionKind Group is not apiextensions.crossplane.io"),
        (
            {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Other"},
            "GroupVersionKind Kind is not Composition",
        ),
        (
            composition(environment={}),
            "Composition is using Resources mode, run pipeline-composition command instead",
        ),
        (
            composition(mode="Pipeline", environment={"defaultData": {}}),
            "failed to get pipeline: spec.pipeline: no such field",
        ),
        (
            composition(mode="Pipeline", environment={"defaultData": {}}, pipeline=["x"]),
            "failed to get pipeline: json: cannot unmarshal string into Go value of type "
            "map[string]interface {}",
        ),
    ],
)
def test_a_composition_without_an_environment_is_reported(original: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConversionError, match="^" + sentence.replace("[", r"\[").replace("{", r"\{") + "$"):
        environment_to_function(original, "")


def test_templates_become_the_input_of_patch_and_transform() -> None:
    original = composition(
        mode="Resources",
        writeConnectionSecretsToNamespace="n",
        patchSets=[{"name": "s", "patches": [{"fromFieldPath": "a"}]}],
        resources=[
            {"base": {"kind": "A"}},
            {"name": "b", "patches": [{"patchSetName": "s", "type": "PatchSet"}]},
        ],
    )
    spec = spec_of(resources_to_pipeline(original, ""))
    assert set(spec) == {"compositeTypeRef", "mode", "pipeline", "writeConnectionSecretsToNamespace"}
    assert spec["mode"] == "Pipeline"
    (step,) = spec["pipeline"]
    assert step["functionRef"] == {"name": "function-patch-and-transform"}
    assert step["input"] == {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "patchSets": [{"name": "s", "patches": [{"fromFieldPath": "a", "type": "FromCompositeFieldPath"}]}],
        "resources": [
            {"base": {"kind": "A"}, "name": "resource-0"},
            {"name": "b", "patches": [{"patchSetName": "s", "type": "PatchSet"}]},
        ],
    }


def test_templates_and_environment_are_converted_together() -> None:
    original = composition(
        environment={"defaultData": {"a": 1}, "patches": [{"fromFieldPath": "a"}]}, resources=[{"name": "r"}]
    )
    first, second = spec_of(current_composition(original, NAMES))["pipeline"]
    assert first["step"] == "environment-configs"
    patches = [{"fromFieldPath": "a", "type": "FromCompositeFieldPath"}]
    assert second["input"]["environment"] == {"patches": patches}


def test_from_and_to_become_a_pipeline_of_today() -> None:
    original = {
        "apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": "Composition",
        "spec": {"from": {"apiVersion": "acme.test/v1", "kind": "Cache"}, "to": [{"base": {"kind": "A"}}]},
    }
    converted = current_composition(original, NAMES)
    assert converted is not None
    assert converted.value["apiVersion"] == "apiextensions.crossplane.io/v1"
    spec = spec_of(converted)
    assert spec["compositeTypeRef"] == {"apiVersion": "acme.test/v1", "kind": "Cache"}
    assert spec["pipeline"][0]["input"]["resources"] == [{"base": {"kind": "A"}, "name": "resource-0"}]


def test_a_pipeline_of_today_is_left_alone() -> None:
    assert current_composition(composition(mode="Pipeline", pipeline=[{"step": "s"}]), NAMES) is None


def test_a_pipeline_without_a_mode_keeps_its_steps_and_gets_the_mode() -> None:
    steps = [{"step": "s"}]
    environment = {"environmentConfigs": [{"ref": {"name": "e"}}]}
    assert spec_of(current_composition(composition(pipeline=steps), NAMES)) == {
        **composition()["spec"],
        "mode": "Pipeline",
        "pipeline": steps,
    }
    spec = spec_of(current_composition(composition(pipeline=steps, environment=environment), NAMES))
    assert [step["step"] for step in spec["pipeline"]] == ["environment-configs", "s"]


def test_a_composition_of_the_designs_of_functions_gets_the_version_of_today() -> None:
    steps = [{"step": "s"}]
    original = {
        **composition(mode="Pipeline", pipeline=steps),
        "apiVersion": "apiextensions.crossplane.io/v2alpha1",
    }
    converted = current_composition(original, NAMES)
    assert converted is not None
    assert converted.value == composition(mode="Pipeline", pipeline=steps)


def test_container_functions_alone_have_nothing_to_convert() -> None:
    functions = [{"name": "f", "type": "Container", "container": {"image": "example.org/f:1"}}]
    assert current_composition(composition(functions=functions), NAMES) is None


@pytest.mark.parametrize("field", ["resources", "patchSets"])
def test_a_field_that_is_no_list_of_objects_is_named(field: str) -> None:
    with pytest.raises(ConversionError, match=f"spec.{field} is not a list of objects"):
        resources_to_pipeline(composition(mode="Resources", **{field: "x"}), "")


@pytest.mark.parametrize(
    ("options", "policy"),
    [
        ({"keepMapValues": True}, "MergeObjects"),
        ({"keepMapValues": True, "appendSlice": True}, "MergeObjectsAppendArrays"),
        ({"appendSlice": True}, "ForceMergeObjectsAppendArrays"),
        ({}, "ForceMergeObjects"),
    ],
)
def test_merge_options_become_one_word(options: dict[str, bool], policy: str) -> None:
    patch = explicit_patch({"policy": {"fromFieldPath": "Required", "mergeOptions": options}})
    assert patch["policy"] == {"fromFieldPath": "Required", "toFieldPath": policy}


@pytest.mark.parametrize(
    ("original", "explicit_fields"),
    [
        ({"math": {"multiply": 2}}, {"type": "math", "math": {"type": "Multiply", "multiply": 2}}),
        ({"math": {"clampMin": 2}}, {"type": "math", "math": {"type": "ClampMin", "clampMin": 2}}),
        ({"string": {"fmt": "%s"}}, {"type": "string", "string": {"type": "Format", "fmt": "%s"}}),
        ({"map": {"a": "b"}}, {"type": "map", "map": {"a": "b"}}),
        (
            {"type": "string", "string": {"type": "TrimPrefix", "trim": "x"}},
            {"type": "string", "string": {"type": "TrimPrefix", "trim": "x"}},
        ),
        ({}, {}),
    ],
)
def test_transforms_name_their_type(original: dict[str, Any], explicit_fields: dict[str, Any]) -> None:
    assert explicit_patch({"transforms": [original]})["transforms"] == [explicit_fields]


@pytest.mark.parametrize(
    ("original", "explicit_fields"),
    [
        ({"fromConnectionSecretKey": "k"}, {"type": "FromConnectionSecretKey", "name": "k"}),
        ({"name": "n", "fromFieldPath": "p"}, {"type": "FromFieldPath"}),
        ({"name": "n", "value": "v"}, {"type": "FromValue"}),
        ({"name": "n", "type": "FromValue", "fromFieldPath": "p"}, {}),
    ],
)
def test_connection_details_name_their_type(
    original: dict[str, Any], explicit_fields: dict[str, Any]
) -> None:
    (explicit,) = explicit_template({"connectionDetails": [original]}, 0)["connectionDetails"]
    assert explicit == {**original, **explicit_fields}
