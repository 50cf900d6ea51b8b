"""The pieces of `trace` that need no server: words, columns, images, drawings and causes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.cli.framework.failure_reports import align
from crossply.cli.framework.styling import Style
from crossply.cli.trace.causes import explain
from crossply.cli.trace.graph import dot, mermaid
from crossply.cli.trace.table import Table
from crossply.kube.kind import Kind
from crossply.resource_tree.image_reference import dns_label, package_name, parse_tagged
from crossply.resource_tree.node import NOT_FOUND, Node, Problem, Trace
from crossply.resource_tree.served_kinds import Served, find


def node(
    name: str, *children: Node, kind: str = "Shop", problem: Problem | None = None, **conditions: Any
) -> Node:
    condition_list = [
        {"type": key, **dict(zip(("status", "reason", "message"), value, strict=False))}
        for key, value in conditions.items()
    ]
    trace_node = Node(
        {
            "apiVersion": "acme.test/v1",
            "kind": kind,
            "metadata": {"name": name},
            "status": {"conditions": condition_list},
        },
        None,
        problem,
    )
    trace_node.children = list(children)
    return trace_node


def table(root: Node, wide: bool = False) -> list[str]:
    return Table(wide).write(Trace([root], is_list=False)).splitlines()[1:]


OK, WAIT = ("True", "Available"), ("False", "Creating", "waits")


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        ("a\tb\n", "a     b\n", "a column is six wide at least"),
        ("aaaaa\tb\nc\td\n", "aaaaa   b\nc       d\n", "and three wider than its widest cell"),
        ("é\tb\n", "é     b\n", "characters count, not bytes"),
        (
            "aaaaaaaa\tb\nbreak\nc\td\n",
            "aaaaaaaa   b\nbreak\nc     d\n",
            "a line without cells ends the columns",
        ),
        ("a\tb\t\n", "a     b     \n", "a tab at the end makes the last cell a column"),
        ("", "", "nothing"),
    ],
)
def test_tabs_become_columns_as_in_go(text: str, expected: str, reason: str) -> None:
    assert align(text) == expected, reason


@given(st.lists(st.lists(st.text("ab é", max_size=9), min_size=1, max_size=4), max_size=6))
def test_aligning_loses_no_text(rows: list[list[str]]) -> None:
    laid_out = align("\n".join("\t".join(row) for row in rows))
    assert laid_out.replace(" ", "") == "\n".join("".join(row) for row in rows).replace(" ", "")


@pytest.mark.parametrize(
    ("conditions", "status", "reason"),
    [
        ({"Synced": OK, "Ready": OK}, "Available", "both true: why it is ready"),
        ({"Synced": OK, "Ready": WAIT}, "Creating: waits", "not ready: why"),
        ({"Synced": ("False", "E", "m"), "Ready": WAIT}, "E: m", "what cannot be synced comes first"),
        (
            {"Synced": ("Unknown",), "Ready": ("Unknown", "R")},
            "R",
            "a condition that says nothing is passed over",
        ),
        ({"Synced": ("False",), "Ready": OK}, "Available", "unless the other has no more to say"),
        ({}, "", "no conditions, nothing to say"),
        ({"Synced": ("False", "", "m")}, ": m", "a message without a reason, as Crossplane prints it"),
    ],
)
def test_the_status_is_the_first_condition_that_explains(conditions: dict, status: str, reason: str) -> None:
    header, row = Table(False).write(Trace([node("x", **conditions)], False)).splitlines()
    assert row[header.index("STATUS") :] == status, reason


def test_a_message_is_cropped_by_bytes_and_steers_no_terminal() -> None:
    [row] = table(node("x", Synced=("False", "E", "ä" * 40)))
    assert row.endswith("E: ..." + "ä" * 32)
    [row] = table(node("x", Synced=("False", "E", "\x1b[2J")))
    assert row.endswith(r"E: \x1b[2J")


def test_conditions_that_are_not_well_formed_count_as_none() -> None:
    broken = Node(
        {
            "kind": "A",
            "metadata": {"name": "x"},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, 7]},
        }
    )
    assert broken.condition("Ready").status == ""


def test_ages_are_shown_where_the_time_is_known() -> None:
    root = node("x")
    root.object["metadata"]["creationTimestamp"] = "2024-01-01T00:00:00Z"
    text = Table(False, Style(decorated=True), datetime(2024, 1, 3, tzinfo=UTC)).write(Trace([root], False))
    assert [line.split() for line in text.splitlines()] == [
        ["NAME", "SYNCED", "READY", "AGE", "STATUS"],
        ["Shop/x", "-", "-", "2d"],
    ]


@pytest.mark.parametrize(
    ("image", "parts", "reason"),
    [
        ("reg.test/acme/fn:v1", ("reg.test", "acme/fn", "v1"), "all there"),
        ("reg.test:5000/fn:v1", ("reg.test:5000", "fn", "v1"), "a port is no tag"),
        ("reg.test:5000/fn", None, "no tag"),
        ("reg.test/fn@sha256:aa", None, "a digest is no version"),
        ("acme/fn:v1", None, "no registry"),
        ("docker.io/acme/fn:v1", ("index.docker.io", "acme/fn", "v1"), "the hub by its full name"),
        ("docker.io/fn:v1", None, "the hub's own images need `library`"),
        ("reg.test/fn:v+1", None, "not a tag"),
        ("", None, "nothing"),
    ],
)
def test_images_are_parsed_strictly(image: str, parts: tuple | None, reason: str) -> None:
    assert parse_tagged(image) == parts, reason


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("reg.test/acme/function-x", "acme-function-x"),
        ("reg.test/acme/function-x:v1", "acme-function-x"),
        ("reg.test/acme/function-x@sha256:aa", "acme-function-x"),
        ("function-x", "library-function-x"),
        ("Not An Image", "otnmage"),
    ],
)
def test_a_dependency_is_named_after_its_repository(source: str, name: str) -> None:
    assert package_name(source) == name


def test_a_label_is_cut_at_63() -> None:
    assert dns_label("-a.b/" + "c" * 80) == "a-b-" + "c" * 58


def served(plural: str, group: str, version: str = "v1", rank: int = 0, *short_names: str) -> Served:
    kind = Kind(group, version, plural.rstrip("s").title(), plural, True)
    return Served(kind, plural.rstrip("s"), short_names, rank)


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        ("shop", ("a.test", "v1"), "the first group that has it"),
        ("shop.b.test", ("b.test", "v2"), "in the group's preferred version"),
        ("shop.v1.b.test", ("b.test", "v1"), "in the version that is named"),
        ("shop.v1.", ("a.test", "v1"), "a version in any group"),
        ("sh", ("b.test", "v2"), "a short name"),
        ("shelf", ("c.test", "v1"), "a singular is preferred to a short name"),
        ("shop.v7.b.test", None, "no such version"),
        ("SH", None, "short names are read exactly"),
        ("", None, "nothing"),
    ],
)
def test_the_server_s_order_decides_between_kinds_of_one_name(
    text: str, expected: tuple | None, reason: str
) -> None:
    kinds = [
        served("shops", "a.test"),
        served("shops", "b.test", "v2", 0, "sh", "shelf"),
        served("shops", "b.test", "v1", 1, "sh"),
        served("shelfs", "c.test"),
    ]
    kind = find(kinds, text)
    assert (kind and (kind.group, kind.version)) == expected, reason


def test_the_graph_numbers_nodes_by_level_and_sorts_them_as_texts() -> None:
    root = node("root", *(node(f"c{number}") for number in range(11)))
    lines = dot(Trace([root], False)).splitlines()
    assert [line.split("[")[0].strip() for line in lines[2:6]] == ["n1", "n2", "n11", "n12"]
    assert lines[-3] == "\tn1--n12;"


def test_mermaid_shows_states_and_keeps_signs_of_its_own_out() -> None:
    missing = node("y", problem=Problem(NOT_FOUND, 'shops "y" not found', {}))
    lines = mermaid(Trace([node("x", missing, Synced=OK, Ready=WAIT)], False)).splitlines()
    assert lines[:4] == [
        "graph TD",
        '  n1["Shop/x<br/>Synced: True<br/>Ready: False"]:::waiting',
        '  n2["Shop/y<br/>shops #34;y#34; not found"]:::failed',
        "  n1 --> n2",
    ]


def causes(*roots: Node) -> list[str]:
    return [
        line[2:] for line in explain(Trace(list(roots), False)).splitlines()[1:] if line.startswith("  S")
    ]


def test_a_ready_resource_has_no_cause() -> None:
    assert explain(Trace([node("x", node("cm"), Synced=OK, Ready=OK)], False)) == ""


def test_a_resource_that_waits_for_another_is_no_cause() -> None:
    root = node("xr", node("a", Synced=OK, Ready=OK), node("b", Synced=OK, Ready=WAIT), Synced=OK, Ready=WAIT)
    assert causes(root) == ["Shop/b: Creating: waits"]


def test_an_unsynced_resource_is_a_cause_beside_those_below() -> None:
    root = node("xr", node("b", Synced=OK, Ready=WAIT), Synced=("False", "E", "two\nlines"), Ready=WAIT)
    assert causes(root) == ["Shop/xr: E: two lines", "Shop/b: Creating: waits"]


def test_a_paused_resource_gives_a_hint_to_resume_it() -> None:
    root = node("xr", Synced=("False", "ReconcilePaused"), Ready=WAIT)
    root.object["metadata"]["annotations"] = {"crossplane.io/paused": "true"}
    assert "next: kubectl annotate Shop xr crossplane.io/paused-\n" in explain(Trace([root], False))


def test_the_blockers_of_a_deletion_are_named() -> None:
    root = node("xr", Synced=OK, Ready=WAIT)
    root.object["metadata"] |= {"deletionTimestamp": "2024-01-01T00:00:00Z", "finalizers": ["f/one", "f/two"]}
    assert causes(root) == ["Shop/xr: it is being deleted, and waits for its finalizers: f/one, f/two"]


def test_many_causes_are_counted() -> None:
    text = explain(Trace([node("xr", *(node(f"c{n}", Ready=WAIT) for n in range(8)), Ready=WAIT)], False))
    assert text.splitlines()[-1] == "  and 3 more"


def composed(kind: str, resource: str, **rest: Any) -> Node:
    annotations = {"crossplane.io/composition-resource-name": resource}
    metadata = {"name": f"shop-{resource}", "namespace": "team-a", "annotations": annotations}
    return Node({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, **rest})


def waiting_for(names: str, *children: Node) -> Node:
    return node("shop", *children, Synced=OK, Ready=("False", "Creating", f"Unready resources: {names}"))


NO_CONTROLLER = (
    "it has no status: no controller for Deployments has reported on it, "
    "and the control plane of crossply up has none"
)
UNAVAILABLE = {"type": "Available", "status": "False", "reason": "Few", "message": "0 of 1"}


@pytest.mark.parametrize(
    ("names", "status", "reason"),
    [
        ("deployment", {}, NO_CONTROLLER),
        ("a, deployment, and 3 more", {}, NO_CONTROLLER),
        ("deployment", {"conditions": [UNAVAILABLE]}, "its Available condition is False: Few: 0 of 1"),
        (
            "deployment",
            {"replicas": 1},
            "it has no Ready condition, and the pipeline does not report it as ready",
        ),
    ],
)
def test_a_composed_resource_without_a_ready_condition_is_the_cause(names, status, reason) -> None:
    root = waiting_for(
        names, composed("Deployment", "deployment", status=status), composed("ConfigMap", "map")
    )
    assert explain(Trace([root], False)) == (
        f"Not ready because of:\n  Deployment/shop-deployment (team-a): {reason}\n"
        "    next: crossply explain Deployment.apps/shop-deployment -n team-a\n"
    )


def test_mermaid_colours_the_resources_an_xr_waits_for_as_waiting() -> None:
    root = waiting_for("deployment", composed("Deployment", "deployment"), composed("ConfigMap", "map"))
    lines = mermaid(Trace([root], False)).splitlines()
    assert [line.rpartition(":::")[2] for line in lines if ":::" in line] == ["waiting", "waiting", "ready"]


def test_a_message_of_several_lines_is_one_cell_on_a_terminal() -> None:
    root = node("x", Synced=("False", "E", "two\n  lines"))
    text = Table(False, Style(decorated=True)).write(Trace([root], False))
    assert text.splitlines()[-1].endswith("E: two lines")
    assert Table(False).write(Trace([root], False)).endswith("E: two\n  lines\n"), "as Crossplane prints it"
