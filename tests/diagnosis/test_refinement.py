"""Plain explanations for vague conditions."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.engine_field_paths import MODERN
from crossply.diagnosis.cause_details import refine
from crossply.diagnosis.deletion import deletion_blockers
from crossply.diagnosis.evidence import Evidence
from crossply.diagnosis.explanation import next_reconcile
from crossply.diagnosis.model import Cause
from crossply.diagnosis.root_cause_search import deepest_first
from crossply.resource_tree.node import Node, Origin

Object = dict[str, Any]


def node(name: str, message: str = "", kind: str = "App", **rest: Any) -> Node:
    condition = {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": message}
    metadata = {"name": name, "namespace": "apps", "uid": name, **rest.pop("metadata", {})}
    status = {"status": {"conditions": [condition]}} if message else {}
    return Node(
        {"apiVersion": "acme.test/v1", "kind": kind, "metadata": metadata, "spec": {}, **status, **rest}
    )


def refined(root: Node, **evidence: Any) -> Cause:
    finding = deepest_first(root)[0]
    return refine(finding.cause, finding.node, finding.parent, Evidence(**evidence))


@pytest.mark.parametrize(
    ("message", "sentence", "command"),
    [
        (
            'cannot connect: ProviderConfig.acme.test "default" not found',
            "ProviderConfig default does not exist in namespace apps; there is none of any name",
            "kubectl get providerconfigs.acme.test -A",
        ),
        (
            'Internal error occurred: failed calling webhook "check.acme.test": connection refused',
            "the webhook check.acme.test does not answer: connection refused",
            "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations",
        ),
        (
            "unable to create new content in namespace apps because it is being terminated",
            "namespace apps is being deleted: nothing can be created in it",
            "kubectl get namespace apps -o yaml",
        ),
        (
            "cannot determine creation result - remove the crossplane.io/external-create-pending annotation "
            "if it is safe to proceed",
            "its Provider does not know whether it created the external resource",
            "kubectl annotate App x -n apps crossplane.io/external-create-pending-",
        ),
        (
            "denied. user jane may not get secrets in the cluster; to grant it: kubectl create clusterrole a",
            "a right is missing: user jane may not get secrets in the cluster",
            "kubectl create clusterrole a",
        ),
    ],
)
def test_known_failures_have_plain_sentences(message: str, sentence: str, command: str) -> None:
    cause = refined(node("x", message))
    assert cause.sentence.startswith(sentence)
    assert cause.command == command


@pytest.mark.parametrize(
    ("reason", "message", "is_paused"),
    [
        ("ReconcilePaused", "Reconciliation is paused", True),
        ("ReconcileError", "the class ReconcilePaused is unknown", False),
    ],
)
def test_the_reason_of_the_condition_says_whether_a_resource_is_paused(
    reason: str, message: str, is_paused: bool
) -> None:
    paused = node("x", message)
    paused.object["status"]["conditions"][0]["reason"] = reason
    assert refined(paused).sentence.startswith("it is paused") is is_paused


def test_a_cluster_provider_config_of_the_same_name_is_mentioned() -> None:
    config = {"kind": "ClusterProviderConfig", "metadata": {"name": "default"}}
    cause = refined(node("x", 'ProviderConfig.acme.test "default" not found'), provider_configs=[config])
    assert cause.sentence.endswith(
        "there is a ClusterProviderConfig default: refer to it with spec.providerConfigRef.kind"
    )


def pipeline(step: Object) -> Object:
    """Evidence with a Composition of one step."""
    return {"compositions": [{"metadata": {"name": "apps"}, "spec": {"pipeline": [step]}}]}


def composed_by(**rest: Any) -> Object:
    return {"spec": {"crossplane": {"compositionRef": {"name": "apps"}, **rest}}}


CALL = 'cannot compose resources: cannot run Composition pipeline step "a": context deadline exceeded'


def test_a_function_that_cannot_be_called_is_reported_with_its_health_and_its_log() -> None:
    step = {"step": "a", "functionRef": {"name": "maker"}}
    xr = node("x", CALL, **composed_by())
    unhealthy = {"type": "Healthy", "status": "False", "reason": "Crash", "message": "exit status 1"}
    installed = {"type": "Installed", "status": "True", "reason": "Active"}
    package = {"metadata": {"name": "maker"}, "status": {"conditions": [installed, unhealthy]}}
    cause = refined(xr, functions={"maker": package}, logs={"function/maker": ["boom"]}, **pipeline(step))
    assert cause.sentence == 'step "a" failed: Function maker is not running: Crash: exit status 1'
    assert cause.evidence[-1] == "log of function/maker: boom"
    assert cause.command == "crossply logs function/maker"
    cause = refined(xr, functions={"make": package}, **pipeline(step))
    assert cause.sentence == 'Function maker is not installed, which step "a" calls; did you mean make?'


def xr_with_unready_db(**status: Any) -> Node:
    annotations = {"annotations": {"crossplane.io/composition-resource-name": "db"}}
    child = Node(
        {
            "apiVersion": "v1",
            "kind": "Db",
            "metadata": {"name": "one", **annotations},
            "status": status,
        }
    )
    xr = node("x", **composed_by())
    ready = {"type": "Ready", "status": "False", "reason": "Creating", "message": "Unready resources: db"}
    xr.object["status"] = {"conditions": [ready]}
    xr.children = [child]
    return xr


PHASE = {"type": "MatchString", "fieldPath": "status.phase", "matchString": "up"}
SERVES = {"type": "MatchTrue", "fieldPath": "status.serves"}
HEALTHY = {"type": "MatchCondition", "matchCondition": {"type": "Healthy", "status": "True"}}


def checked(*checks: Object) -> Object:
    """Evidence with a Composition whose resource has these readiness checks."""
    resources = [{"name": "db", "readinessChecks": list(checks)}]
    return pipeline({"step": "a", "input": {"resources": resources}})


def test_an_unmet_readiness_check_is_reported_with_its_value() -> None:
    cause = refined(xr_with_unready_db(phase="down"), **checked(PHASE))
    assert cause.text == 'Db/one: readiness check is not met: status.phase must be "up", and is "down"'


def test_values_are_written_as_in_manifests() -> None:
    cause = refined(xr_with_unready_db(phase="up", serves=False), **checked(PHASE, SERVES))
    assert cause.sentence == "readiness check is not met: status.serves must be true, and is false"
    cause = refined(xr_with_unready_db(phase="up", serves=1), **checked(SERVES))
    assert cause.sentence == "readiness check is not met: status.serves must be true, and is 1"


@pytest.mark.parametrize(
    ("checks", "sentence"),
    [
        ((PHASE,), 'readiness check is not met: status.phase must be "up"'),
        ((PHASE, HEALTHY), "readiness check is not met: condition Healthy must be True, and is not there"),
        ((PHASE, SERVES), ""),
    ],
)
def test_no_value_is_stated_of_a_field_that_is_not_at_hand(checks: tuple[Object, ...], sentence: str) -> None:
    xr = xr_with_unready_db()
    general = refined(xr, has_whole_objects=False).sentence
    assert refined(xr, has_whole_objects=False, **checked(*checks)).sentence == (sentence or general)


def test_the_log_of_a_provider_that_is_down_is_evidence() -> None:
    resource = node("x")
    why = (
        'which is not running: UnhealthyPackageRevision: Package runtime health is "False" with message: '
        "post establish runtime hook failed for package: provider is unavailable: it ended"
    )
    resource.origin = Origin(why, "", "sql")
    cause = refined(resource, logs={"provider/sql": ["no password"]})
    assert cause.sentence.endswith("which is not running: it ended")
    assert cause.evidence == ("log of provider/sql: no password",)
    assert cause.command == "crossply logs provider/sql"


def test_a_deletion_waits_for_finalizers_and_composed_resources_are_named_first() -> None:
    when = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    child = node(
        "child", kind="Db", metadata={**when, "finalizers": ["finalizer.managedresource.crossplane.io"]}
    )
    child.origin = Origin("its kind comes from Provider sql, which …", "kubectl describe p sql", "sql")
    root = node("root", metadata={**when, "finalizers": ["foregroundDeletion"]})
    root.children = [child]
    first, second = deletion_blockers(root, ())
    assert first.ref.name == "child"
    assert first.sentence.endswith("when the external resource is gone; Provider sql is not running")
    assert (first.since, first.command) == (when["deletionTimestamp"], "kubectl describe p sql")
    assert second.sentence.endswith("still there: Db/child (apps)")


def test_a_finalizer_names_who_added_it() -> None:
    managed = {
        "manager": "kubectl-edit",
        "operation": "Update",
        "time": "2026-01-01T00:00:00Z",
        "fieldsV1": {"f:metadata": {"f:finalizers": {'v:"example.org/mine"': {}}}},
    }
    metadata = {
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": ["a.org/other", "example.org/mine"],
    }
    root = node("root", metadata={**metadata, "managedFields": [managed]})
    sentences = [blocker.sentence for blocker in deletion_blockers(root, ())]
    assert sentences == [
        "finalizer a.org/other: the controller that added it has to remove it",
        "finalizer example.org/mine: added by kubectl-edit, which has to remove it",
    ]


def test_the_triggers_of_an_xr_are_listed() -> None:
    refs = [{"kind": "Db", "name": "one"}]
    xr = node("x", **composed_by(resourceRefs=refs)).object
    assert next_reconcile(xr, MODERN, is_failed=False) == (
        "an edit of it, or of its Composition",
        "a change of what it composed: Db/one",
        "a response of a function that expires (its TTL), else nothing: it does not poll",
    )
    xr["metadata"]["annotations"] = {"crossplane.io/poll-interval": "5m"}
    assert next_reconcile(xr, MODERN, is_failed=True)[0].startswith("a retry: ")
    assert "a poll every 5m" in next_reconcile(xr, MODERN, is_failed=True)[-1]
    xr["metadata"]["annotations"] = {"crossplane.io/paused": "true"}
    assert next_reconcile(xr, MODERN, is_failed=False) == (
        "nothing: it is paused until the annotation crossplane.io/paused is removed",
    )
    xr["metadata"]["annotations"] = {}
    circuit = {"type": "Responsive", "status": "False", "reason": "WatchCircuitOpen", "message": "too many"}
    xr["status"] = {"conditions": [circuit]}
    assert "the circuit breaker is open" in next_reconcile(xr, MODERN, is_failed=False)[0]


def test_old_events_of_a_synced_resource_are_ignored() -> None:
    resource = node("x", kind="Db")
    resource.origin = Origin("its kind comes from Provider sql, which is not running")
    xr = node("xr")
    xr.object["status"] = {"conditions": [{"type": "Synced", "status": "True"}]}
    xr.children = [resource]
    old = {"type": "Warning", "message": "denied. jane may not get dbs; to grant it: kubectl create role a"}
    assert refined(xr, events={"xr": [old]}).sentence == resource.origin.why
    condition = xr.object["status"]["conditions"][0]
    condition |= {"status": "False", "message": 'pipeline step "a" returned a fatal result: no'}
    xr.children = []
    assert refined(xr, events={"xr": [old]}).sentence == 'step "a" returned a fatal result: no'
    condition |= {"message": "Unsynced resources: db"}
    new = {"type": "Warning", "message": 'cannot apply composed resource "db": Db "x" is invalid: spec.a: no'}
    assert refined(xr, events={"xr": [old, new]}).sentence == (
        'composed resource "db" has a wrong field: spec.a: no'
    )


@pytest.mark.parametrize(
    "reason",
    [
        'ConfigMap "x" is invalid: []: Too long: may not be more than 1048576 bytes',
        'Db "x" is invalid: <nil>: Invalid value: null: some validation rules were not checked',
    ],
)
def test_a_composed_resource_that_is_refused_as_a_whole_has_no_wrong_field(reason: str) -> None:
    xr = node("xr")
    condition = {"type": "Synced", "status": "False", "message": "Unsynced resources: db"}
    xr.object["status"] = {"conditions": [condition]}
    event = {"type": "Warning", "message": f'cannot apply composed resource "db": {reason}'}
    assert refined(xr, events={"xr": [event]}).sentence == f'composed resource "db" is refused: {reason}'
