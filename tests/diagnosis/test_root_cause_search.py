"""Which of the causes in a tree is the deepest."""

from __future__ import annotations

from typing import Any

from crossply.diagnosis.model import Cause
from crossply.diagnosis.root_cause_search import explain_command, find_cause, in_tree_order
from crossply.resource_tree.node import NOT_FOUND, Node, Origin, Problem, Reference

WHEN = "2026-01-01T00:00:00Z"
WAITS = ("False", "Creating", "")


def node(name: str, *children: Node, kind: str = "Shop", **conditions: Any) -> Node:
    entries = [
        {"type": key, "lastTransitionTime": WHEN}
        | dict(zip(("status", "reason", "message"), value, strict=False))
        for key, value in conditions.items()
    ]
    status = {"status": {"conditions": entries}} if entries else {}
    tree_node = Node({"apiVersion": "acme.test/v1", "kind": kind, "metadata": {"name": name}, **status})
    tree_node.children = list(children)
    return tree_node


def cause_of(root: Node) -> Cause:
    cause = find_cause(root)
    assert cause is not None
    return cause


def test_a_ready_resource_has_no_cause() -> None:
    assert find_cause(node("a", node("b", Ready=("True",)), Ready=("True",))) is None


def test_the_cause_is_where_the_waiting_ends() -> None:
    leaf = node("leaf", kind="Bucket", Ready=("False", "Creating", "no region"))
    cause = cause_of(node("claim", node("xr", leaf, Ready=WAITS), Ready=("False", "Waiting")))
    assert cause.text == "Bucket/leaf: Creating: no region"
    assert cause.ref == Reference("acme.test/v1", "Bucket", "leaf")
    assert cause.evidence == ("condition Ready is False: Creating: no region",)
    assert (cause.since, cause.command) == (WHEN, "kubectl describe Bucket leaf")


def test_a_failure_is_deeper_than_mere_waiting() -> None:
    failed = ("False", "ReconcileError", 'pipeline step "a" failed')
    xr = node("xr", node("slow", Ready=WAITS), Synced=failed, Ready=WAITS)
    assert [finding.cause.ref.name for finding in in_tree_order(xr)] == ["xr", "slow"]
    cause = cause_of(xr)
    assert cause.sentence == 'ReconcileError: pipeline step "a" failed'


def test_what_is_being_deleted_does_not_wait_for_readiness() -> None:
    gone = node("gone")
    gone.problem = Problem(NOT_FOUND, "not there", {})
    xr = node("xr", node("slow", Ready=WAITS), gone, Ready=("False", "Deleting"))
    xr.metadata.update({"deletionTimestamp": WHEN, "finalizers": ["example.org/mine"]})
    assert cause_of(xr).text == "Shop/xr: it is being deleted, and waits for its finalizers: example.org/mine"
    stuck = node("stuck", Synced=("False", "ReconcileError", "cannot delete"))
    stuck.metadata.update({"deletionTimestamp": WHEN})
    xr.children.append(stuck)
    assert [finding.cause.ref.name for finding in in_tree_order(xr)] == ["stuck"]


def test_of_two_failures_the_deeper_one_is_the_cause() -> None:
    missing = node("gone")
    missing.problem = Problem(NOT_FOUND, "not there", {})
    xr = node("xr", missing, Synced=("False", "ReconcileError", "Unsynced resources: gone"))
    cause = cause_of(xr)
    assert (cause.ref.name, cause.command) == ("gone", "kubectl describe Shop xr")


def test_a_provider_that_is_down_is_reported_with_the_old_conditions_of_its_resource() -> None:
    stale = node("db", kind="Database", Synced=("True",), Ready=WAITS)
    stale.origin = Origin("its kind comes from Provider sql, which is not running", "kubectl describe p sql")
    cause = cause_of(node("xr", stale, Ready=WAITS))
    assert cause.command == "kubectl describe p sql"
    assert cause.sentence == "Creating; its kind comes from Provider sql, which is not running"


def test_a_ready_resource_whose_provider_is_down_is_a_cause_at_the_root_too() -> None:
    stale = node("db", kind="Database", Synced=("True",), Ready=("True",))
    stale.origin = Origin("its kind comes from Provider sql, which is not running", "kubectl describe p sql")
    assert cause_of(stale).sentence == "its kind comes from Provider sql, which is not running"


def test_before_explain_has_run_it_is_the_next_command() -> None:
    missing, paused = node("gone"), node("held", Synced=("False", "ReconcilePaused"))
    missing.problem = Problem(NOT_FOUND, "not there", {})
    paused.object["metadata"]["annotations"] = {"crossplane.io/paused": "true"}
    stale = node("db", kind="Database", Ready=WAITS)
    stale.origin = Origin(
        "its kind comes from Provider sql, which is not running", "kubectl describe p sql", "sql"
    )
    xr = node("xr", missing, paused, stale, Synced=("False", "ReconcileError"))
    assert [explain_command(finding) for finding in in_tree_order(xr)] == [
        "crossply explain Shop.acme.test/xr",
        "crossply explain Shop.acme.test/xr",
        "kubectl annotate Shop held crossplane.io/paused-",
        "crossply explain providers.pkg.crossplane.io/sql",
    ]
