"""Every spelling of a Composition becomes the same model, and no input breaks the parser."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.kinds.composition import (
    CompositionError,
    ContainerFunction,
    CredentialRef,
    ExtraResourceRule,
    ObjectRef,
    ResourceRequirement,
    SchemaRequirement,
    Step,
    TypeRef,
    parse_composition,
)
from crossply.kinds.composition_native_step import NATIVE_FUNCTION

TYPE_REF = {"apiVersion": "acme.test/v1", "kind": "XCache"}


def composition(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "caches", "labels": {"tier": "gold"}},
        "spec": {"compositeTypeRef": TYPE_REF, **spec},
    }


def only_step(**step: Any) -> Step:
    parsed = parse_composition(composition(mode="Pipeline", pipeline=[step]))
    assert len(parsed.steps) == 1
    return parsed.steps[0]


def test_a_pipeline_keeps_its_steps_in_order() -> None:
    parsed = parse_composition(
        composition(
            mode="Pipeline",
            writeConnectionSecretsToNamespace="secrets",
            pipeline=[
                {"step": "one", "functionRef": {"name": "f"}, "input": {"kind": "In"}},
                {"step": "two", "functionRef": {"name": "g"}},
            ],
        )
    )
    assert parsed.composite == TypeRef("acme.test/v1", "XCache")
    assert (parsed.name, parsed.mode, parsed.connection_secrets_namespace) == (
        "caches",
        "Pipeline",
        "secrets",
    )
    assert parsed.labels == {"tier": "gold"}
    assert parsed.steps == (Step("one", "f", {"kind": "In"}), Step("two", "g"))


def test_a_step_reads_credentials_and_requirements() -> None:
    step = only_step(
        step="s",
        functionRef={"name": "f"},
        credentials=[
            {"name": "c", "source": "Secret", "secretRef": {"namespace": "ns", "name": "n"}},
            {"name": "none", "source": "None"},
        ],
        requirements={
            "requiredResources": [
                {
                    "requirementName": "one",
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "name": "x",
                    "namespace": "d",
                },
                {"requirementName": "many", "apiVersion": "v1", "kind": "Pod", "matchLabels": {"a": "b"}},
            ],
            "requiredSchemas": [{"requirementName": "schema", "apiVersion": "v1", "kind": "Pod"}],
        },
    )
    assert step.credentials == (
        CredentialRef("c", "Secret", "ns", "n"),
        CredentialRef("none", "None", "", ""),
    )
    assert step.required_resources == (
        ResourceRequirement("one", "v1", "ConfigMap", "d", "x", None),
        ResourceRequirement("many", "v1", "Pod", None, None, {"a": "b"}),
    )
    assert step.required_schemas == (SchemaRequirement("schema", "v1", "Pod"),)


def test_a_step_reads_the_fields_that_only_the_designs_have() -> None:
    step = only_step(
        step="s",
        functionRef={"name": "f"},
        inputRef={"apiVersion": "acme.test/v1", "kind": "Script", "name": "robots"},
        functionRevisionRef={"name": "f-1234567"},
        functionRevisionSelector={"matchLabels": {"channel": "alpha"}},
        maxIterations=-1,
        allowedExtraResources=[
            {"apiVersion": "v1", "kind": "A"},
            {"apiVersion": "v1", "kind": "B", "name": "b-.*"},
            {"apiVersion": "v1", "kind": "C", "matchName": "c-.*"},
            {"apiVersion": "v1", "kind": "D", "matchLabels": {"env": "(dev|qa)"}},
        ],
    )
    assert step.input_ref == ObjectRef("acme.test/v1", "Script", "robots", "")
    assert step.function_revision_ref == "f-1234567"
    assert step.function_revision_selector == {"channel": "alpha"}
    assert step.max_iterations == -1
    assert step.allowed_extra_resources == (
        ExtraResourceRule("v1", "A", None, None),
        ExtraResourceRule("v1", "B", "b-.*", None),
        ExtraResourceRule("v1", "C", "c-.*", None),
        ExtraResourceRule("v1", "D", None, {"env": "(dev|qa)"}),
    )


def test_no_policy_differs_from_a_policy_that_allows_nothing() -> None:
    assert only_step(step="s").allowed_extra_resources is None
    assert only_step(step="s", allowedExtraResources=[]).allowed_extra_resources == ()


@pytest.mark.parametrize("mode", [{"mode": "Resources"}, {}], ids=["explicit", "the old default"])
def test_resource_templates_become_one_native_step(mode: dict[str, str]) -> None:
    templates = [{"name": "a", "base": {"kind": "A"}, "patches": [{"type": "PatchSet", "patchSetName": "p"}]}]
    sets = [{"name": "p", "patches": [{"fromFieldPath": "spec.a"}]}]
    parsed = parse_composition(composition(resources=templates, patchSets=sets, **mode))
    assert parsed.steps == (
        Step(
            "resources",
            NATIVE_FUNCTION,
            {
                "apiVersion": "crossply.dev/v1alpha1",
                "kind": "NativeResources",
                "patchSets": sets,
                "resources": templates,
            },
        ),
    )


def test_from_and_to_are_the_composite_type_and_the_templates() -> None:
    parsed = parse_composition(
        {
            "apiVersion": "apiextensions.crossplane.io/v1alpha1",
            "kind": "Composition",
            "metadata": {"name": "old"},
            "spec": {
                "from": TYPE_REF,
                "to": [{"base": {"kind": "A"}, "connectionDetails": [{"fromConnectionSecretKey": "k"}]}],
            },
        }
    )
    assert parsed.composite == TypeRef("acme.test/v1", "XCache")
    assert [step.function for step in parsed.steps] == [NATIVE_FUNCTION]
    assert parsed.steps[0].input is not None
    assert parsed.steps[0].input["resources"] == [
        {"base": {"kind": "A"}, "connectionDetails": [{"fromConnectionSecretKey": "k"}]}
    ]


def test_a_scalar_where_a_string_belongs_is_its_text() -> None:
    step = only_step(step=5, functionRef={"name": True}, functionRevisionRef={"name": 1.5})
    assert (step.name, step.function, step.function_revision_ref) == ("5", "true", "1.5")


def test_pipeline_mode_ignores_left_over_templates() -> None:
    parsed = parse_composition(
        composition(mode="Pipeline", pipeline=[{"step": "s"}], resources=[{"base": {}}])
    )
    assert [step.name for step in parsed.steps] == ["s"]


def test_container_functions_run_after_the_templates_with_their_defaults() -> None:
    parsed = parse_composition(
        composition(
            resources=[{"base": {}}],
            functions=[{"name": "cool", "type": "Container", "container": {"image": "registry.test/cool:1"}}],
        )
    )
    assert [step.name for step in parsed.steps] == ["resources", "cool"]
    assert parsed.steps[1].container == ContainerFunction(
        image="registry.test/cool:1",
        pull_policy="IfNotPresent",
        pull_secrets=(),
        timeout=10_000_000_000,
        network_policy="Isolated",
        cpu_limit="100m",
        memory_limit="128Mi",
        endpoint="unix-abstract:crossplane/fn/default.sock",
        config=None,
    )


def test_the_first_container_function_gets_the_checks_and_details_of_templates() -> None:
    checks, details = [{"type": "None"}], [{"fromConnectionSecretKey": "k"}]
    parsed = parse_composition(
        composition(
            resources=[
                {"base": {}, "readinessChecks": checks},
                {"base": {}, "connectionDetails": details},
                {},
            ],
            functions=[{"name": "cool", "type": "Container", "container": {"image": "cool"}}],
        )
    )
    assert parsed.steps[1].container is not None
    assert parsed.steps[1].container.templates == {
        "resource-0": {"readinessChecks": checks},
        "resource-1": {"connectionDetails": details},
    }


@pytest.mark.parametrize(
    ("written", "endpoint"),
    [
        ("unix:///@crossplane/fn/default.sock", "unix-abstract:crossplane/fn/default.sock"),
        ("unix:///run/fn.sock", "unix:///run/fn.sock"),
        ("dns:///runner:1234", "dns:///runner:1234"),
    ],
)
def test_the_endpoint_of_a_runner_may_be_written_as_the_first_design_did(written, endpoint) -> None:
    container = {"image": "cool", "runner": {"endpoint": written}}
    parsed = parse_composition(
        composition(functions=[{"name": "f", "type": "Container", "container": container}])
    )
    assert parsed.steps[0].container is not None
    assert parsed.steps[0].container.endpoint == endpoint


@pytest.mark.parametrize(
    ("network", "policy"),
    [
        ("Accessible", "Runner"),  # the first design's word, as a bare string
        ("Isolated", "Isolated"),
        ({"policy": "Runner"}, "Runner"),  # what was built
        ({}, "Isolated"),
    ],
)
def test_the_network_of_a_container_has_two_spellings(network: Any, policy: str) -> None:
    container = {"image": "i", "network": network, "resources": {"limits": {"cpu": 2}}, "timeout": "1m0.5s"}
    parsed = parse_composition(
        composition(functions=[{"name": "f", "type": "Container", "container": container}])
    )
    parsed_container = parsed.steps[0].container
    assert parsed_container is not None
    assert (parsed_container.network_policy, parsed_container.cpu_limit, parsed_container.timeout) == (
        policy,
        "2",
        60_500_000_000,
    )


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ([], "must be an object, not a list"),
        ({"spec": 3}, "spec: must be an object, not a number"),
        ({"metadata": {"name": ["a"]}}, "metadata.name: must be a string, not a list"),
        (composition(mode="Magic"), "spec.mode: must be Pipeline or Resources"),
        (composition(pipeline={}), "spec.pipeline: must be a list, not an object"),
        (composition(pipeline=[{"step": {}}]), "spec.pipeline[0].step: must be a string, not an object"),
        (
            composition(pipeline=[{"maxIterations": 1.5}]),
            "spec.pipeline[0].maxIterations: must be an integer, not a number",
        ),
        *(
            (
                composition(pipeline=[{"maxIterations": limit}]),
                "spec.pipeline[0].maxIterations: must be -1, for no limit, or at least 1",
            )
            for limit in (0, -2)
        ),
        (composition(functions=[{"type": "Webhook"}]), "spec.functions[0].type: must be Container"),
        (
            composition(functions=[{"type": "Container"}]),
            "spec.functions[0].container.image: is required",
        ),
        (
            composition(functions=[{"type": "Container", "container": {"image": "i", "timeout": "soon"}}]),
            'spec.functions[0].container.timeout: time: invalid duration "soon"',
        ),
        (
            composition(pipeline=[{"allowedExtraResources": [{"name": "a", "matchLabels": {}}]}]),
            "spec.pipeline[0].allowedExtraResources[0]: may have a name or labels to match, not both",
        ),
    ],
)
def test_an_error_names_the_field(obj: Any, message: str) -> None:
    with pytest.raises(CompositionError) as caught:
        parse_composition(obj)
    assert str(caught.value) == message


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
STEP_FIELDS = [
    *("step", "functionRef", "input", "credentials", "requirements", "inputRef", "functionRevisionRef"),
    *("functionRevisionSelector", "maxIterations", "allowedExtraResources", "container", "type"),
]
STEP = st.fixed_dictionaries({}, optional=dict.fromkeys(STEP_FIELDS, JSON))
SPEC = st.fixed_dictionaries(
    {},
    optional={
        "compositeTypeRef": JSON, "from": JSON, "to": JSON, "resources": JSON, "patchSets": JSON,
        "mode": st.sampled_from(["Pipeline", "Resources", ""]) | JSON,
        "pipeline": st.lists(STEP, max_size=2) | JSON, "functions": st.lists(STEP, max_size=2) | JSON,
    },
)  # fmt: skip


@given(JSON | st.fixed_dictionaries({"spec": SPEC}, optional={"metadata": JSON}))
def test_no_json_value_breaks_the_parser(obj: Any) -> None:
    with contextlib.suppress(CompositionError):
        parse_composition(obj)
