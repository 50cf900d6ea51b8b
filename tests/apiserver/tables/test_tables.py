"""Objects as tables: columns, cells, and what each row carries."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.served_resources import Column
from crossply.apiserver.tables.human_duration import human_duration
from crossply.apiserver.tables.table import to_table
from tests.support.apiserver.builtin_kinds import by_kind, deployment, new, read
from tests.support.apiserver.gadgets import gadgets

NOW = datetime(2024, 1, 2, tzinfo=UTC)
CREATED_AT = "2024-01-01T00:00:00Z"


def gadget(**fields: Any) -> dict[str, Any]:
    return new("example.org/v1", "Gadget", metadata={"creationTimestamp": CREATED_AT}, **fields)


def cells(obj: dict[str, Any], *columns: Column) -> list[Any]:
    resource = gadgets(*columns)
    table = to_table(resource, resource.versions["v1"], [obj], now=NOW)
    row: list[Any] = table["rows"][0]["cells"]
    return row


def builtin_cells(obj: dict[str, Any]) -> list[Any]:
    resource = by_kind()[obj["apiVersion"].rpartition("/")[0], obj["kind"]]
    version = resource.versions[obj["apiVersion"].rpartition("/")[2]]
    row: list[Any] = to_table(resource, version, [obj], now=NOW)["rows"][0]["cells"]
    assert len(row) == len(version.columns)
    return row


CELLS: list[tuple[str, str, Any, Any, str]] = [
    ("string", ".spec.a", "x", "x", "a text"),
    ("string", ".spec.a", 5, "5", "a number in a column of texts"),
    ("string", ".spec.a", True, "true", "a truth too"),
    ("string", ".spec.a", {"b": [1]}, '{"b":[1]}', "an object is shown as JSON"),
    ("string", ".spec.nope", "x", None, "what is not there"),
    ("integer", ".spec.a", 5, 5, "a number"),
    ("integer", ".spec.a", 5.7, 5, "a fraction is cut"),
    ("integer", ".spec.a", "5", None, "a text is no number"),
    ("integer", ".spec.a", True, None, "a truth is no number"),
    ("number", ".spec.a", 1.5, 1.5, "a fraction"),
    ("boolean", ".spec.a", False, False, "a truth"),
    ("boolean", ".spec.a", "false", None, "a text is no truth"),
    ("date", ".spec.a", "2024-01-01T23:00:00Z", "60m", "how long ago"),
    ("date", ".spec.a", "soon", "<invalid>", "no time"),
    ("date", ".spec.a", 5, None, "not even a text"),
]


@pytest.mark.parametrize(("kind", "path", "value", "cell", "reason"), CELLS)
def test_a_cell_is_of_the_type_of_its_column(
    kind: str, path: str, value: Any, cell: Any, reason: str
) -> None:
    assert cells(gadget(spec={"a": value}), Column("A", kind, path)) == ["a", cell], reason


def test_a_condition_is_selected_by_its_type() -> None:
    status = {"conditions": [{"type": "Synced", "status": "False"}, {"type": "Ready", "status": "True"}]}
    column = Column("Ready", "string", ".status.conditions[?(@.type=='Ready')].status")
    assert cells(gadget(status=status), column) == ["a", "True"]


def test_cells_that_take_too_long_are_empty() -> None:
    items = [{"key": number} for number in range(1_000)]
    columns = [Column(f"C{n}", "integer", ".spec.items[?(@.key==999)].key") for n in range(100)]
    name, *row = cells(gadget(spec={"items": items}), *columns)
    assert (name, row[:10], row[-1]) == ("a", [999] * 10, None)


def test_a_long_text_is_not_shown_in_every_column() -> None:
    columns = [Column(f"C{n}", "string", ".spec.text") for n in range(100)]
    _, *row = cells(gadget(spec={"text": "x" * 100_000}), *columns)
    assert len(row[0]) == 100_000
    assert sum(len(cell or "") for cell in row) < 2_000_000


def test_without_columns_there_is_an_age() -> None:
    assert cells(gadget()) == ["a", "24h"]


def test_a_column_has_a_description() -> None:
    resource = gadgets(Column("A", "string", ".spec.a", "", "", 1))
    table = to_table(resource, resource.versions["v1"], [])
    assert table["columnDefinitions"][1] == {
        "name": "A",
        "type": "string",
        "format": "",
        "description": "Custom resource definition column (in JSONPath format): .spec.a",
        "priority": 1,
    }
    assert table["rows"] == []


INCLUDES: list[tuple[str, Any]] = [
    ("None", None),
    ("Object", gadget()),
    (
        "Metadata",
        {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": gadget()["metadata"]},
    ),
]


@pytest.mark.parametrize(("include_object", "carried"), INCLUDES)
def test_a_row_carries_the_requested_object(include_object: str, carried: Any) -> None:
    resource = gadgets()
    assert (
        to_table(resource, resource.versions["v1"], [gadget()], include_object)["rows"][0]["object"]
        == carried
    )


def test_an_unknown_include_object_is_refused() -> None:
    resource = gadgets()
    with pytest.raises(StatusError, match="must be 'Metadata', 'Object', 'None', or empty"):
        to_table(resource, resource.versions["v1"], [], "Everything")


def test_a_list_keeps_its_version_and_how_to_go_on() -> None:
    resource = gadgets()
    metadata = {"resourceVersion": "7", "continue": "x", "remainingItemCount": 0}
    table = to_table(resource, resource.versions["v1"], [], "", metadata)
    assert table["metadata"] == {"resourceVersion": "7", "continue": "x"}


def with_age(obj: dict[str, Any]) -> dict[str, Any]:
    obj["metadata"]["creationTimestamp"] = CREATED_AT
    return obj


BUILT_IN: list[tuple[dict[str, Any], list[Any]]] = [
    (new("v1", "ConfigMap", data={"a": ""}, binaryData={"b": ""}), ["a", 2, "24h"]),
    (new("v1", "Secret", type="Opaque", data={"a": ""}), ["a", "Opaque", 1, "24h"]),
    (new("v1", "Namespace", status={"phase": "Active"}), ["a", "Active", "24h"]),
    (new("coordination.k8s.io/v1", "Lease", spec={"holderIdentity": "me"}), ["a", "me", "24h"]),
    (read(deployment(replicas=3)), ["a", "0/3", 0, 0, "24h", "c", "nginx", "app=x"]),
    (new("rbac.authorization.k8s.io/v1", "ClusterRole"), ["a", CREATED_AT]),
    (
        new(
            "v1",
            "Service",
            spec={"type": "ClusterIP", "clusterIPs": ["1.2.3.4"], "ports": [{"port": 80, "protocol": "TCP"}]},
        ),
        ["a", "ClusterIP", "1.2.3.4", "<none>", "80/TCP", "24h", "<none>"],
    ),
    (
        new(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            roleRef={"kind": "Role", "name": "r"},
            subjects=[
                {"kind": "User", "name": "u"},
                {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
            ],
        ),
        ["a", "Role/r", "24h", "u", "", "n/s"],
    ),
    (
        new(
            "v1",
            "Event",
            involvedObject={"kind": "Pod", "name": "p"},
            reason="R",
            message=" hi ",
            type="Normal",
        ),
        ["<unknown>", "Normal", "R", "pod/p", "", "", "hi", "<unknown>", 1, "a"],
    ),
]


@pytest.mark.parametrize(("obj", "row"), BUILT_IN, ids=[row[0]["kind"] for row in BUILT_IN])
def test_cells_of_built_in_kinds(obj: dict[str, Any], row: list[Any]) -> None:
    assert builtin_cells(with_age(obj)) == row


def waiting(reason: str) -> dict[str, Any]:
    return {"waiting": {"reason": reason}}


RUNNING = {"name": "c", "ready": True, "state": {"running": {}}}
PODS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("new", {"phase": "Pending"}, ["0/1", "Pending", "0"]),
    ("running", {"phase": "Running", "containerStatuses": [RUNNING]}, ["1/1", "Running", "0"]),
    (
        "crashing",
        {
            "phase": "Running",
            "containerStatuses": [{"restartCount": 2, "state": waiting("CrashLoopBackOff")}],
        },
        ["0/1", "CrashLoopBackOff", "2"],
    ),
    (
        "restarted",
        {
            "phase": "Running",
            "containerStatuses": [
                {
                    **RUNNING,
                    "restartCount": 1,
                    "lastState": {"terminated": {"finishedAt": "2024-01-01T23:59:30Z"}},
                }
            ],
        },
        ["1/1", "Running", "1 (30s ago)"],
    ),
    (
        "initialising",
        {"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {"running": {}}}]},
        ["0/1", "Init:0/0", "0"],
    ),
    ("evicted", {"phase": "Failed", "reason": "Evicted"}, ["0/1", "Evicted", "0"]),
]


@pytest.mark.parametrize(("description", "status", "row"), PODS, ids=[row[0] for row in PODS])
def test_the_status_column_of_a_pod(description: str, status: dict[str, Any], row: list[str]) -> None:
    pod = new("v1", "Pod", spec={"containers": [{"name": "c"}]}, status=status)
    assert builtin_cells(with_age(pod))[1:4] == row


def test_a_pod_that_is_done_is_marked_so_that_clients_may_hide_it() -> None:
    resource = by_kind()["", "Pod"]
    pod = new("v1", "Pod", status={"phase": "Succeeded"})
    row = to_table(resource, resource.versions["v1"], [pod])["rows"][0]
    assert row["conditions"][0]["reason"] == "Succeeded"


def test_every_kind_fills_its_columns_from_an_empty_object() -> None:
    for resource in by_kind().values():
        for version in resource.versions.values():
            if "list" in version.verbs:
                builtin_cells(new(resource.api_version(version.name), resource.names.kind))


DURATIONS = [
    (-5, "<invalid>"),
    (-1, "0s"),
    (0, "0s"),
    (119, "119s"),
    (120, "2m"),
    (125, "2m5s"),
    (600, "10m"),
    (3 * 3600 - 1, "179m"),
    (3 * 3600, "3h"),
    (3 * 3600 + 60, "3h1m"),
    (8 * 3600 + 59, "8h"),
    (48 * 3600, "2d"),
    (49 * 3600, "2d1h"),
    (8 * 86400 + 3600, "8d"),
    (2 * 365 * 86400, "2y"),
    (2 * 365 * 86400 + 86400, "2y1d"),
    (9 * 365 * 86400 + 86400, "9y"),
]


@pytest.mark.parametrize(("seconds", "text"), DURATIONS)
def test_ages_have_two_or_three_figures(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text
