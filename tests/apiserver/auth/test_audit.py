"""What the audit log contains, and what it never contains."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from crossply.apiserver.audit import AuditError, AuditLog, Level, Outcome, Record
from crossply.apiserver.audit.events import event
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from tests.support.apiserver.rbac import ask, ask_path

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
DONE = Outcome(200, NOW)
CANARY = b'{"data": {"password": "canary"}}'


def _record(info: RequestInfo, **more: Any) -> Record:
    return Record(info, "/uri", NOW, user=User("jane", ("g",)), audit_id="id", **more)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def test_an_event_names_user_action_and_outcome() -> None:
    info = RequestInfo("get", "", "apps", "v1", "a", "deployments", "web", "scale")
    record = _record(
        info,
        source="127.0.0.1",
        user_agent="kubectl",
        impersonated=User("joe"),
        constraint="impersonate:user-info",
        annotations={"authorization.k8s.io/decision": "allow"},
    )
    problem = {"status": "Failure", "reason": "NotFound", "message": "gone", "metadata": {}}
    assert event(record, Outcome(404, NOW, problem), Level.METADATA) == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "id",
        "stage": "ResponseComplete",
        "requestURI": "/uri",
        "verb": "get",
        "user": {"username": "jane", "groups": ["g"]},
        "impersonatedUser": {"username": "joe"},
        "authenticationMetadata": {"impersonationConstraint": "impersonate:user-info"},
        "sourceIPs": ["127.0.0.1"],
        "userAgent": "kubectl",
        "objectRef": {
            "resource": "deployments",
            "namespace": "a",
            "name": "web",
            "apiGroup": "apps",
            "apiVersion": "v1",
            "subresource": "scale",
        },
        "responseStatus": {
            "metadata": {},
            "status": "Failure",
            "reason": "NotFound",
            "message": "gone",
            "code": 404,
        },
        "requestReceivedTimestamp": "2026-01-02T03:04:05.000678Z",
        "stageTimestamp": "2026-01-02T03:04:05.000678Z",
        "annotations": {"authorization.k8s.io/decision": "allow"},
    }


def test_a_path_has_no_object_and_an_empty_user_is_anonymous() -> None:
    audit_event = event(Record(ask_path("get", "/healthz"), "/healthz", NOW), DONE, Level.METADATA)
    assert "objectRef" not in audit_event
    assert audit_event["user"] == {}
    assert len(audit_event["auditID"]) == 36


LEVELS = [
    (Level.METADATA, False, False, "by default no bodies"),
    (Level.REQUEST, True, False, "the request's"),
    (Level.REQUEST_RESPONSE, True, True, "both"),
]


@pytest.mark.parametrize(("level", "has_request", "has_response", "reason"), LEVELS)
def test_the_level_decides_which_bodies_are_logged(
    level: Level, has_request: bool, has_response: bool, reason: str
) -> None:
    record = _record(ask("create", "configmaps", "a"), request_body=b'{"a": 1}', response_body=b'{"b": 2}')
    audit_event = event(record, DONE, level)
    assert audit_event.get("requestObject") == ({"a": 1} if has_request else None), reason
    assert audit_event.get("responseObject") == ({"b": 2} if has_response else None), reason


@pytest.mark.parametrize(
    "info",
    [
        ask("create", "secrets", "a"),
        ask("list", "secrets", "a"),
        ask("patch", "secrets", "a", "x"),
        ask("update", "secrets/status", "a", "x"),
        ask("create", "serviceaccounts/token", "a", "bot"),
        ask("create", "tokenreviews", api_group="authentication.k8s.io"),
    ],
    ids=lambda info: f"{info.verb} {info.resource}/{info.subresource}",
)
def test_requests_with_secrets_are_never_logged(info: RequestInfo) -> None:
    record = _record(info, request_body=CANARY, response_body=CANARY)
    problem = {"status": "Failure", "message": "Invalid value: canary", "reason": "Invalid"}
    audit_event = event(record, Outcome(422, NOW, problem), Level.REQUEST_RESPONSE)
    assert b"canary" not in orjson.dumps(audit_event)
    assert audit_event["level"] == "Metadata"
    assert audit_event["responseStatus"]["code"] == 422


def test_a_body_that_is_not_json_is_left_out() -> None:
    record = _record(ask("create", "configmaps", "a"), request_body=b"k8s\0\x01binary")
    assert "requestObject" not in event(record, DONE, Level.REQUEST)


def test_an_audit_id_of_the_client_is_used_but_bounded() -> None:
    assert Record(ask_path("get", "/"), "/", NOW, audit_id="x" * 100).audit_id == "x" * 64
    assert "\n" not in Record(ask_path("get", "/"), "/", NOW, audit_id="a\nb").audit_id


def test_events_are_lines_of_a_private_file_that_later_starts_continue(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    for verb in ("get", "list"):
        log = AuditLog(str(path))
        log.log(_record(ask(verb, "pods", "a")), DONE)
        log.close()
    assert [line["verb"] for line in _lines(path)] == ["get", "list"]
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_a_watch_is_logged_at_its_start_and_its_end(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path / "audit.log"))
    record = _record(ask("watch", "pods", "a"))
    log.log(record, Outcome(200, NOW, stage="ResponseStarted"))
    log.log(record, DONE)
    log.close()
    stages = [(line["auditID"], line["stage"]) for line in _lines(tmp_path / "audit.log")]
    assert stages == [("id", "ResponseStarted"), ("id", "ResponseComplete")]


def test_text_that_is_not_utf_8_is_written_all_the_same(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path / "audit.log"))
    log.log(Record(ask_path("get", "/\udcff"), "/\udcff", NOW), DONE)
    log.close()
    assert b"udcff" in (tmp_path / "audit.log").read_bytes()


def test_the_file_is_rotated_by_size_and_the_oldest_goes(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    log = AuditLog(str(path), largest=1000, backups=2)
    for number in range(20):
        log.log(_record(ask("get", "pods", "a", f"p{number}")), DONE)
    log.close()
    files = [path, tmp_path / "audit.log.1", tmp_path / "audit.log.2"]
    assert sorted(os.listdir(tmp_path)) == [file.name for file in files]
    assert all(file.stat().st_size <= 1000 for file in files)
    names = [line["objectRef"]["name"] for file in reversed(files) for line in _lines(file)]
    assert names == [f"p{number}" for number in range(20 - len(names), 20)]


def test_when_the_disk_is_too_slow_events_are_dropped_counted_and_reported(tmp_path: Path) -> None:
    pipe = tmp_path / "audit.log"
    os.mkfifo(pipe)
    received: list[bytes] = []
    may_read = threading.Event()

    def read_slowly() -> None:
        with open(pipe, "rb") as file:
            may_read.wait(10)
            received.append(file.read())

    reader = threading.Thread(target=read_slowly)
    reader.start()
    log = AuditLog(str(pipe), waiting=5, largest=1 << 40)
    for _ in range(5000):
        log.log(_record(ask("get", "pods", "a"), user_agent="x" * 1000), DONE)
    assert not may_read.is_set(), "nobody waited for the disk"
    assert log.dropped > 0
    may_read.set()
    while log._queue.qsize() > 2:
        time.sleep(0.01)
    log.log(_record(ask("get", "pods", "a")), DONE)
    log.close()
    reader.join()
    message = [orjson.loads(line).get("annotations", {}) for line in received[0].splitlines()]
    assert sum(int(item.get("crossply.io/dropped-events", 0)) for item in message) == log.dropped
    assert len(message) + log.dropped == 5001


def test_a_log_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="cannot open the audit log"):
        AuditLog(str(tmp_path / "absent" / "audit.log"))
