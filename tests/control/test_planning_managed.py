"""Immutable fields by their schemas, external names, and references among what is deleted."""

from __future__ import annotations

import pytest

from crossply.control.planning.api_urls import ObjectKey
from crossply.control.planning.change_tree import DELETE, Node
from crossply.control.planning.deletion_order_warnings import add_order_warnings, usage_for
from crossply.control.planning.immutable_field_refusals import attempted_changes, immutable_fields
from crossply.control.planning.managed_notes import annotate_external
from crossply.control.usages.usage_model import CLUSTER_USAGE, read_usage

SAME = [{"rule": "self == oldSelf"}]


def schema(**fields):
    provider = {"type": "object", "properties": fields}
    spec = {"type": "object", "properties": {"forProvider": provider}}
    return {"type": "object", "properties": {"spec": spec}}


def resource(kind="Bucket", name="b", **for_provider):
    return {
        "apiVersion": "example.org/v1",
        "kind": kind,
        "metadata": {"name": name, "uid": name},
        "spec": {"forProvider": for_provider},
    }


@pytest.mark.parametrize(
    ("fields", "live", "desired", "named"),
    [
        ({"a": {"x-kubernetes-validations": SAME}}, {"a": 1}, {"a": 2}, ["spec.forProvider.a"]),
        ({"a": {"x-kubernetes-validations": SAME}}, {"a": 1}, {"b": 2}, []),
        ({"a": {"x-kubernetes-validations": SAME}}, {}, {"a": 2}, []),
        ({"a": {"x-kubernetes-validations": [{"rule": "self > 1"}]}}, {"a": 1}, {"a": 2}, []),
        (
            {"a": {"properties": {"b": {}}, "x-kubernetes-validations": [{"rule": "oldSelf==self"}]}},
            {"a": {"b": 1}},
            {"a": {"b": 2}},
            ["spec.forProvider.a"],
        ),
        (
            {
                "a": {
                    "properties": {"b": {}, "c": {}},
                    "x-kubernetes-validations": [{"rule": "!has(oldSelf.b) || self.b == oldSelf.b"}],
                }
            },
            {"a": {"b": 1, "c": 1}},
            {"a": {"b": 2, "c": 2}},
            ["spec.forProvider.a.b"],
        ),
    ],
)
def test_immutable_fields_are_recognized_by_their_rules(fields, live, desired, named):
    before, after = resource(**live), resource(**desired)
    assert immutable_fields(schema(**fields), before, attempted_changes(before, after)) == named


def going(obj):
    return Node(ObjectKey("example.org", obj["kind"], "", obj["metadata"]["name"]), obj, DELETE)


@pytest.mark.parametrize(
    ("spec", "note"),
    [
        ({}, 'external resource "b" is deleted too'),
        ({"deletionPolicy": "Orphan"}, 'external resource "b" stays: deletionPolicy is Orphan'),
        (
            {"managementPolicies": ["Observe", "Delete"], "deletionPolicy": "Orphan"},
            'external resource "b" is deleted too',
        ),
        (
            {"managementPolicies": ["Observe"]},
            'external resource "b" stays: managementPolicies does not have Delete',
        ),
    ],
)
def test_a_deletion_reports_the_fate_of_the_external_resource(spec, note):
    obj = resource()
    node = going({**obj, "spec": {**obj["spec"], **spec}})
    annotate_external(node)
    assert node.notes == [note]


def warned(*objects, usages=()):
    root = going({**resource("Shop", "root"), "spec": {}})
    root.children = [going(obj) for obj in objects]
    add_order_warnings([root], usages)
    return [name for name, node in ((n.obj["metadata"]["name"], n) for n in root.walk()) if node.warnings]


SUBNET, NETWORK = resource("Subnet", "s", vpcIdRef={"name": "n"}), resource("VPC", "n")


def test_a_reference_by_name_needs_a_usage():
    assert warned(SUBNET, NETWORK) == ["n"]
    assert warned(SUBNET) == []
    usage = read_usage(CLUSTER_USAGE, usage_for(SUBNET, NETWORK))
    assert warned(SUBNET, NETWORK, usages=[usage]) == []


def test_of_two_of_one_name_the_one_whose_kind_the_field_names_is_meant():
    assert warned(SUBNET, NETWORK, resource("Disk", "n")) == ["n"]


def test_references_in_lists_and_selectors_count_and_those_to_configuration_do_not():
    assert warned(resource("Group", "g", subnetIdRefs=[{"name": "s"}]), resource("Subnet", "s")) == ["s"]
    selecting = resource("Group", "g", subnetIdSelector={"matchLabels": {"a": "b"}})
    labelled = {**SUBNET, "metadata": {**SUBNET["metadata"], "labels": {"a": "b"}}}
    assert warned(selecting, labelled) == ["s"]
    assert warned(selecting, SUBNET) == []
    configured = {**resource("Group", "g"), "spec": {"forProvider": {}, "providerConfigRef": {"name": "s"}}}
    assert warned(configured, resource("Subnet", "s")) == []
