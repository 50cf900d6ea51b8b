"""The audit log of a running server: every request, by whom, how it ended, and no secret."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.apiserver.servers import CONFIG_MAPS, Program, config_map, events
from tests.support.apiserver.users import JANE, allow, token_file


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    directory = tmp_path_factory.mktemp("audited")
    flags = ("--audit-log", str(directory / "audit.log"), "--audit-level", "request-response")
    with Program(directory / "data", *flags, "--token-file", token_file(directory)) as program:
        yield program


@pytest.fixture
def audit_id(request: pytest.FixtureRequest) -> str:
    """The id under which a test finds its own requests."""
    return str(request.node.name)


def _audit_events(server: Program, audit_id: str, count: int) -> list[dict[str, Any]]:
    """The audit events of a test's requests, once that many are written."""
    message: list[dict[str, Any]] = []
    for _ in range(500):
        lines = (server.directory.parent / "audit.log").read_text().splitlines()
        message = [event for event in map(json.loads, lines) if event["auditID"] == audit_id]
        if len(message) >= count:
            break
        time.sleep(0.01)
    assert len(message) == count
    return message


def test_a_write_is_logged_with_user_object_and_outcome(audited: Program, audit_id: str) -> None:
    audited.ask("POST", CONFIG_MAPS, config_map("told", a="b"), Audit_ID=audit_id, User_Agent="a-test/1")
    (event,) = _audit_events(audited, audit_id, 1)
    assert (event["kind"], event["level"]) == ("Event", "RequestResponse")
    assert "system:masters" in event["user"]["groups"]
    assert (event["verb"], event["responseStatus"]["code"], event["stage"]) == (
        "create",
        201,
        "ResponseComplete",
    )
    assert event["objectRef"]["resource"] == "configmaps"
    assert (event["sourceIPs"], event["userAgent"]) == (["127.0.0.1"], "a-test/1")
    assert event["requestObject"]["data"] == event["responseObject"]["data"] == {"a": "b"}
    assert event["annotations"]["authorization.k8s.io/decision"] == "allow"


def test_refusals_are_logged_too(audited: Program, audit_id: str) -> None:
    audited.ask("GET", CONFIG_MAPS, token="wrong", Audit_ID=audit_id)
    audited.ask("GET", CONFIG_MAPS, token=JANE, Audit_ID=audit_id)
    unknown, refused = _audit_events(audited, audit_id, 2)
    assert (unknown["user"], unknown["responseStatus"]["code"]) == ({}, 401)
    assert (refused["user"]["username"], refused["responseStatus"]["code"]) == ("jane", 403)
    assert refused["annotations"]["authorization.k8s.io/decision"] == "forbid"
    assert refused["responseStatus"]["reason"] == "Forbidden"


def test_impersonation_is_logged_with_both_names(audited: Program, audit_id: str) -> None:
    allow(audited, "reading", ["get"], ["configmaps"])
    path = f"{CONFIG_MAPS}/kube-root-ca.crt"
    audited.ask("GET", path, Audit_ID=audit_id, Impersonate_User="jane")
    (event,) = _audit_events(audited, audit_id, 1)
    assert event["responseStatus"]["code"] == 200
    assert event["impersonatedUser"]["username"] == "jane"
    assert event["user"]["username"] != "jane"
    assert event["annotations"]["authorization.k8s.io/reason"].startswith("RBAC: allowed by RoleBinding")


def test_a_watch_is_logged_at_its_start_and_its_end(audited: Program, audit_id: str) -> None:
    connection = audited.connect()
    headers = audited.headers() | {"Audit-ID": audit_id}
    connection.request("GET", f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1", headers=headers)
    with connection.getresponse() as response:
        assert list(events(response)) != []
    connection.close()
    assert [event["stage"] for event in _audit_events(audited, audit_id, 2)] == [
        "ResponseStarted",
        "ResponseComplete",
    ]


def test_metrics_report_whether_the_log_keeps_up(audited: Program) -> None:
    audited.create_map("counted")
    metrics = audited.metrics()
    assert metrics["apiserver_audit_event_total"] > 0
    assert metrics["apiserver_audit_error_total"] == 0
