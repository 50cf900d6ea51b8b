"""Telling the audit log about requests: what is known at each point of a request's way."""

from __future__ import annotations

from datetime import UTC, datetime

from aiohttp import web

from crossply.apiserver.audit import AuditLog, Outcome, Record
from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.apiserver.endpoints.status_errors import StatusError

_LONGEST_URI = 4096


class AuditRecorder:
    """Fills audit records while requests are served; without a log, it does nothing."""

    def __init__(self, log: AuditLog | None) -> None:
        self.log = log

    def start(self, request: web.BaseRequest, info: RequestInfo) -> Record | None:
        """A request has come."""
        if self.log is None:
            return None
        headers = request.headers
        return Record(
            info,
            request.raw_path[:_LONGEST_URI],
            datetime.now(UTC),
            source=request.remote or "",
            user_agent=headers.get("User-Agent", ""),
            audit_id=headers.get("Audit-ID", ""),
        )

    def received(self, record: Record, body: bytes) -> None:
        """Its body is there."""
        if self.log is not None and self.log.wants_bodies:
            record.request_body = body

    def answered(self, record: Record, body: bytes) -> None:
        """Its answer is made."""
        if self.log is not None and self.log.wants_bodies:
            record.response_body = body

    def started(self, record: Record | None) -> None:
        """Its answer begins and will take long: it is a watch."""
        if self.log is not None and record is not None:
            self.log.log(record, Outcome(200, datetime.now(UTC), stage="ResponseStarted"))

    def end(self, record: Record | None, code: int, refusal: StatusError | None) -> None:
        """It is answered, or refused."""
        if self.log is not None and record is not None:
            problem = None if refusal is None else refusal.body()
            self.log.log(record, Outcome(code, datetime.now(UTC), problem))
