"""function-tag-manager: which resources get which tags and labels."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import (
    READY_TRUE,
    SEVERITY_FATAL,
    Request,
    Resource,
    Response,
    SchemaSelector,
    State,
)
from crossply.functions.builtin.tag_manager.function import run

VPC = {"apiVersion": "ec2.aws.upbound.io/v1beta1", "kind": "VPC"}
XR = {"spec": {"tags": {"team": "blue"}, "keys": ["cost"], "odd": {"a": 1.0}, "text": "x"}}
ENVIRONMENT = {"apiextensions.crossplane.io/environment": {"tags": {"zone": "north"}, "keys": ["zone"]}}


def vpc(tags: dict[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    provider = {"region": "r", **({"tags": tags} if tags is not None else {})}
    return {**VPC, "metadata": metadata, "spec": {"forProvider": provider}}


def managed(obj: dict[str, Any], observed: Any = None, **function_input: Any) -> Any:
    """The object that the function makes of one desired resource."""
    answer = answered(obj, observed, function_input)
    assert answer.desired is not None
    return answer.desired.resources["one"].object


def answered(obj: dict[str, Any], observed: Any, function_input: dict[str, Any], **more: Any) -> Response:
    existing = {"one": Resource(observed)} if observed else {}
    desired = {"one": Resource(obj, {}, READY_TRUE)}
    more = {"context": ENVIRONMENT, "tag": "t", **more}
    return run(Request(State(Resource(XR), existing), State(None, desired), input=function_input, **more))


def tags_of(obj: dict[str, Any]) -> Any:
    return obj["spec"]["forProvider"].get("tags")


@pytest.mark.parametrize(
    ("entries", "before", "after", "reason"),
    [
        ([{"type": "FromValue", "tags": {"a": "1"}}], None, {"a": "1"}, "a resource without tags"),
        ([{"tags": {"a": "1"}}], None, {"a": "1"}, "a value, unless it says otherwise"),
        ([{"tags": {"a": "1"}}], {"a": "0", "b": "2"}, {"a": "1", "b": "2"}, "tags are replaced"),
        ([{"tags": {"a": "1"}, "policy": "Retain"}], {"a": "0"}, {"a": "0"}, "or retained"),
        ([{"tags": {"a": "1"}, "policy": "Retain"}], None, {"a": "1"}, "where there are any"),
        ([{"tags": {"a": "1"}}, {"tags": {"a": "2"}}], None, {"a": "1"}, "the first entry counts"),
        (
            [{"type": "FromCompositeFieldPath", "fromFieldPath": "spec.tags"}],
            {"x": "y"},
            {"team": "blue", "x": "y"},
            "tags of the XR",
        ),
        (
            [{"type": "FromEnvironmentFieldPath", "fromFieldPath": "tags"}],
            None,
            {"zone": "north"},
            "tags of the environment",
        ),
        (
            [{"type": "FromCompositeFieldPath", "fromFieldPath": "spec.no"}],
            None,
            None,
            "a field that is not there",
        ),
        (
            [{"type": "FromCompositeFieldPath", "fromFieldPath": "spec.odd"}],
            None,
            None,
            "tags that are no texts",
        ),
        ([{"type": "FromCompositeFieldPath", "fromFieldPath": "]["}], None, None, "a path that is none"),
        ([{"type": "FromCompositeFieldPath"}], None, None, "no path at all"),
        ([{"type": "FromNowhere", "tags": {"a": "1"}}], None, None, "a type that there is not"),
    ],
)
def test_tags_are_added(entries: list[Any], before: Any, after: Any, reason: str) -> None:
    assert tags_of(managed(vpc(before), addTags=entries)) == after, reason


def test_observed_tags_of_others_are_preserved() -> None:
    observed = {**VPC, "status": {"atProvider": {"tags": {"cost": "7", "mine": "observed", "other": "x"}}}}
    ignore = [
        {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.keys"},
        {"type": "FromValue", "keys": ["mine"], "policy": "Retain"},
        {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.text"},
    ]
    tagged = managed(vpc({"cost": "1", "mine": "desired"}), observed, ignoreTags=ignore)
    assert tags_of(tagged) == {"cost": "7", "mine": "desired"}
    assert tags_of(managed(vpc({"cost": "1"}), None, ignoreTags=ignore)) == {"cost": "1"}


def test_tags_are_removed_last() -> None:
    remove = [
        {"type": "FromValue", "keys": ["a"]},
        {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.keys"},
        {"type": "FromEnvironmentFieldPath", "fromFieldPath": "keys"},
    ]
    before = {"a": "1", "cost": "2", "zone": "3", "b": "4"}
    assert tags_of(managed(vpc(before), removeTags=remove, addTags=[{"tags": {"a": "9"}}])) == {"b": "4"}


def test_labels_are_set_on_every_kind() -> None:
    step_input = {
        "addLabels": [
            {"type": "FromValue", "labels": {"a": "1"}},
            {"type": "FromValue", "labels": {"b": "1", "c": "1"}, "policy": "Retain"},
        ],
        "removeLabels": [{"type": "FromValue", "keys": ["gone"]}],
    }
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": {"b": "0", "gone": "x"}}}
    assert managed(config_map, **step_input)["metadata"]["labels"] == {"a": "1", "b": "0", "c": "1"}
    assert managed({"kind": "X"}, **step_input)["metadata"]["labels"] == {"a": "1", "b": "1", "c": "1"}


KIND = "tag-manager.fn.crossplane.io/ignore-resource"


@pytest.mark.parametrize(
    ("metadata", "is_left_alone", "reason"),
    [
        ({"annotations": {KIND: "True"}}, True, "an annotation"),
        ({"labels": {KIND: "true"}}, True, "a label"),
        ({"annotations": {KIND: "false"}, "labels": {KIND: "true"}}, False, "the annotation counts first"),
        ({"annotations": {KIND: "no"}}, False, "any other value"),
        ({"annotations": "odd"}, False, "annotations that are none"),
    ],
)
def test_a_resource_can_ask_to_be_left_alone(
    metadata: dict[str, Any], is_left_alone: bool, reason: str
) -> None:
    tagged = managed(vpc(**metadata), addTags=[{"tags": {"a": "1"}}])
    assert (tags_of(tagged) is None) == is_left_alone, reason


@pytest.mark.parametrize(
    ("api_version", "kind", "has_tags"),
    [
        ("ec2.aws.upbound.io/v1beta1", "VPC", True),
        ("ec2.aws.m.upbound.io/v1beta1", "Subnet", True),
        ("ec2.aws.upbound.io/v1beta1", "RouteTableAssociation", False),
        ("ec2.aws.upbound.io/v1beta1", "Route", False),
        ("ec2.aws.upbound.io/v1beta1", "SecurityGroupIngressRule", True),
        ("s3.aws.upbound.io/v1beta2", "Bucket", True),
        ("s3.aws.upbound.io/v1beta1", "BucketPublicAccessBlock", False),
        ("iam.aws.upbound.io/v1beta1", "RolePolicyAttachment", False),
        ("iam.aws.upbound.io/v1beta1", "Policy", True),
        ("azure.upbound.io/v1beta1", "ResourceGroup", True),
        ("azure.m.upbound.io/v1beta1", "ResourceGroup", True),
        ("azure.upbound.io/v1beta1", "Subscription", True),
        ("azure.upbound.io/v1beta1", "ResourceProviderRegistration", False),
        ("aws.upbound.io/v1beta1", "ProviderConfig", False),
        ("notazure.upbound.io/v1beta1", "ResourceGroup", False),
        ("network.azure.upbound.io/v1beta1", "VirtualNetwork", True),
        ("network.azure.m.upbound.io/v1beta1", "Subnet", False),
        ("v1", "ConfigMap", False),
        ("example.org/v1", "VPC", False),
    ],
)
def test_without_a_schema_kinds_are_recognized_by_their_names(
    api_version: str, kind: str, has_tags: bool
) -> None:
    obj = {**vpc(), "apiVersion": api_version, "kind": kind}
    assert (tags_of(managed(obj, addTags=[{"tags": {"a": "1"}}])) is not None) == has_tags


def test_the_schema_of_a_kind_decides_whether_it_has_tags() -> None:
    resource = {"apiVersion": "example.org/v1", "kind": "Thing", "spec": {"forProvider": {}}}
    step_input = {"addTags": [{"tags": {"a": "1"}}]}
    first = answered(resource, None, step_input)
    assert first.requirements is not None
    assert first.requirements.schemas == {"example.org/v1/Thing": SchemaSelector("example.org/v1", "Thing")}
    provider = {"properties": {"tags": {"type": "object"}}}
    schema = {"properties": {"spec": {"properties": {"forProvider": provider}}}}
    second = answered(resource, None, step_input, required_schemas={"example.org/v1/Thing": schema})
    assert second.desired is not None
    assert tags_of(second.desired.resources["one"].object) == {"a": "1"}
    bare = {"properties": {"spec": {"properties": {"forProvider": {}}}}}
    third = answered(vpc(), None, step_input, required_schemas={"ec2.aws.upbound.io/v1beta1/VPC": bare})
    assert third.desired is not None
    assert tags_of(third.desired.resources["one"].object) is None


def test_an_engine_without_schemas_gets_no_schema_requirements() -> None:
    assert answered(vpc(), None, {}, capabilities=(1, 2)).requirements is None


def test_readiness_stays_as_it_was_and_the_object_that_came_is_not_changed() -> None:
    obj = vpc({"a": "0"})
    answer = answered(obj, None, {"addTags": [{"tags": {"a": "1"}}]})
    assert answer.desired is not None
    assert answer.desired.resources["one"].ready == READY_TRUE
    assert obj == vpc({"a": "0"})
    assert [result.message for result in answer.results] == ["Successfully Processed tags"]


@pytest.mark.parametrize(
    "function_input", [{"addTag": []}, {"addTags": [{"tags": {"a": 1.0}}]}, {"removeTags": [{"keys": "a"}]}]
)
def test_errors_in_the_input_are_fatal(function_input: dict[str, Any]) -> None:
    (result,) = answered(vpc(), None, function_input).results
    assert result.severity == SEVERITY_FATAL
    assert result.message.startswith("cannot get Function input from *v1.RunFunctionRequest")
