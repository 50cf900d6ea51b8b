"""The fields of a Usage and the messages built from them."""

from __future__ import annotations

import pytest

from crossply.control.usages.usage_index import protects
from crossply.control.usages.usage_model import (
    CLUSTER_USAGE,
    FINALIZER,
    LEGACY_USAGE,
    USAGE,
    Usage,
    details_of,
    read_usage,
)
from crossply.control.webhooks.usage_review import in_use_message, next_step

OF = {"apiVersion": "example.org/v1", "kind": "Bucket", "resourceRef": {"name": "logs"}}
ELSEWHERE = {**OF, "resourceRef": {"name": "logs", "namespace": "other"}}
BY = {"apiVersion": "v1", "kind": "Pod", "resourceRef": {"name": "app"}}


def usage(kind=USAGE, metadata=None, **spec) -> Usage:
    placed = {"namespace": "here"} if kind.namespaced else {}
    return read_usage(
        kind, {"metadata": {"name": "u", **placed, **(metadata or {})}, "spec": {"of": OF, **spec}}
    )


@pytest.mark.parametrize(
    ("spec", "details", "why"),
    [
        ({"reason": "data", "by": BY}, "data", "a reason says more than names"),
        ({"by": BY}, "Pod/app uses Bucket/logs", "both are named"),
        ({"by": BY, "of": ELSEWHERE}, "Pod/app uses Bucket/logs in namespace other", "it is somewhere else"),
        ({}, "undefined", "the API would not take such a Usage, but it may be there"),
        ({"reason": ""}, "undefined", "an empty reason is none"),
    ],
)
def test_details_name_the_user_or_the_reason(spec, details, why):
    assert details_of(usage(**spec)) == details, why


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        (USAGE, {"by": BY}, '*v1beta1.Usage "u" (in namespace "here") by resource Pod/app.'),
        (CLUSTER_USAGE, {"reason": 'a "b"'}, r'*v1beta1.ClusterUsage "u" with reason: "a \"b\"".'),
        (LEGACY_USAGE, {}, '*v1beta1.Usage "u".'),
        (USAGE, {"by": BY, "reason": "r"}, '*v1beta1.Usage "u" (in namespace "here") by resource Pod/app.'),
    ],
)
def test_a_refusal_begins_with_the_sentence_of_crossplane(kind, spec, message):
    obj = usage(kind, **spec)
    assert in_use_message([obj] * 3) == f"This resource is in-use by 3 usage(s), including the {message}"


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        (USAGE, {"reason": "r"}, "kubectl delete usages.protection.crossplane.io u -n here"),
        (CLUSTER_USAGE, {"reason": "r"}, "kubectl delete clusterusages.protection.crossplane.io u"),
        (LEGACY_USAGE, {"by": BY}, "kubectl delete usages.apiextensions.crossplane.io u"),
    ],
)
def test_a_refusal_ends_with_a_command_to_copy(kind, spec, message):
    assert next_step(usage(kind, **spec)).endswith(f": {message}")


def test_a_refusal_names_the_reason_where_the_sentence_does_not():
    assert 'because: "r". Delete Pod/app first' in next_step(usage(by=BY, reason="r"))


@pytest.mark.parametrize(
    ("obj", "namespace", "answer", "why"),
    [
        (usage(), "here", True, "a Usage is about its own namespace"),
        (usage(), "other", False, "another namespace is another resource"),
        (usage(of=ELSEWHERE), "other", True, "it says so"),
        (usage(of=ELSEWHERE), "here", False, "the same name at home is not meant"),
        (usage(), "", False, "a namespaced Usage protects nothing that is cluster scoped"),
        (usage(CLUSTER_USAGE), "", True, "both are cluster scoped"),
        (usage(CLUSTER_USAGE), "here", False, "it has no namespace to mean"),
        (usage(metadata={"deletionTimestamp": "t"}), "here", False, "it was let go"),
        (usage(metadata={"deletionTimestamp": "t", "finalizers": [FINALIZER]}), "here", True, "not yet"),
    ],
)
def test_a_usage_protects_its_resource_until_it_is_released(obj, namespace, answer, why):
    assert protects(obj, namespace) is answer, why


def test_an_unresolved_selector_names_nothing():
    selector = {"matchControllerRef": True, "matchLabels": {"a": "b"}, "namespace": "there"}
    party = usage(of={"apiVersion": "v1", "kind": "ConfigMap", "resourceSelector": selector}).of
    assert (party.name, party.namespace, party.same_controller, dict(party.labels)) == (
        "",
        "there",
        True,
        {"a": "b"},
    )
