"""The audit.k8s.io/v1 Event of a request.

Bodies are included at the levels Request and RequestResponse only, and never those of secrets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any
from uuid import uuid4

import orjson

from crossply.apiserver.auth.system_users_and_groups import user_info
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.values import Object
from crossply.values.timestamps import format_timestamp

_SECRET_RESOURCES = frozenset(
    {("", "secrets"), ("", "serviceaccounts/token"), ("authentication.k8s.io", "tokenreviews")}
)
_SECRET_KINDS = frozenset({"Secret", "SecretList", "TokenRequest", "TokenReview"})
_ID_LENGTH = 64
_LONGEST_MESSAGE = 4096
_MOST_CAUSES, _LONGEST_CAUSE = 10, 256


class Level(IntEnum):
    NONE = 0
    METADATA = 1
    REQUEST = 2
    REQUEST_RESPONSE = 3

    @property
    def title(self) -> str:
        """The level as events name it."""
        return ("None", "Metadata", "Request", "RequestResponse")[self]


@dataclass(slots=True)
class Record:
    """One request while it is served. Fields are set as they become known."""

    info: RequestInfo
    uri: str
    received: datetime
    source: str = ""
    user_agent: str = ""
    user: User | None = None
    impersonated: User | None = None
    constraint: str = ""
    audit_id: str = ""
    annotations: dict[str, str] = field(default_factory=dict)
    request_body: bytes = b""
    response_body: bytes = b""

    def __post_init__(self) -> None:
        # A client may choose the id, to trace a request through several servers.
        self.audit_id = self.audit_id[:_ID_LENGTH] if self.audit_id.isprintable() else ""
        self.audit_id = self.audit_id or str(uuid4())


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended or, for a watch, how its response started."""

    code: int
    time: datetime
    problem: Object | None = None
    """The Status of a request that failed."""
    stage: str = "ResponseComplete"


def event(record: Record, outcome: Outcome, level: Level) -> Object:
    secret = carries_secrets(record.info)
    level = min(level, Level.METADATA) if secret else level
    constraint = {"impersonationConstraint": record.constraint} if record.constraint else None
    fields: Object = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": level.title,
        "auditID": record.audit_id,
        "stage": outcome.stage,
        "requestURI": record.uri,
        "verb": record.info.verb,
        "user": user_info(record.user) if record.user else {},
        "impersonatedUser": user_info(record.impersonated) if record.impersonated else None,
        "authenticationMetadata": constraint,
        "sourceIPs": [record.source] if record.source else None,
        "userAgent": record.user_agent,
        "objectRef": _object_reference(record.info),
        "responseStatus": _response_status(outcome.code, None if secret else outcome.problem),
        "requestObject": _body(record.request_body) if level >= Level.REQUEST else None,
        "responseObject": _body(record.response_body) if level >= Level.REQUEST_RESPONSE else None,
        "requestReceivedTimestamp": format_timestamp(record.received, "microseconds"),
        "stageTimestamp": format_timestamp(outcome.time, "microseconds"),
        "annotations": record.annotations,
    }
    return {
        key: value for key, value in fields.items() if value not in (None, "") and (value or key == "user")
    }


def carries_secrets(info: RequestInfo) -> bool:
    """Whether the bodies of a request may contain secrets."""
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    return (info.group, resource) in _SECRET_RESOURCES or (info.group, info.resource) == ("", "secrets")


def _object_reference(info: RequestInfo) -> Object | None:
    if not info.is_resource:
        return None
    reference = {
        "resource": info.resource,
        "namespace": info.namespace,
        "name": info.name,
        "apiGroup": info.group,
        "apiVersion": info.version,
        "subresource": info.subresource,
    }
    return {key: value for key, value in reference.items() if value}


def _response_status(code: int, problem: Object | None) -> Object:
    status: Object = {"metadata": {}}
    for name in ("status", "message", "reason", "details"):
        if problem and problem.get(name):
            status[name] = problem[name]
    if "message" in status:
        status["message"] = status["message"][:_LONGEST_MESSAGE]
    if "details" in status:
        status["details"] = _cut_details(status["details"])
    return {**status, "code": code}


def _cut_details(details: Object) -> Object:
    """The details with few and short causes, so that an invalid request cannot fill the log."""
    if not details.get("causes"):
        return details
    causes = [
        {field: text[:_LONGEST_CAUSE] for field, text in cause.items()}
        for cause in details["causes"][:_MOST_CAUSES]
    ]
    return {**details, "causes": causes}


def _body(data: bytes) -> Any:
    """A body for the event; None if it is not JSON, or secret."""
    if not data:
        return None
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    # A Secret that was sent to a wrong URL is still secret.
    return None if isinstance(body, dict) and body.get("kind") in _SECRET_KINDS else body
