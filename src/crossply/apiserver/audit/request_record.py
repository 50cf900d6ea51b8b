"""Collects the audit record of a request while it is served."""

from __future__ import annotations

from datetime import UTC, datetime

from aiohttp import web

from crossply.apiserver.audit import AuditLog, Outcome, Record
from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.apiserver.endpoints.status_errors import StatusError

_LONGEST_URI = 4096


class AuditRecorder:
    """Fills audit records; does nothing without a log."""

    def __init__(self, log: AuditLog | None) -> None:
        self.log = log

    def start(self, request: web.BaseRequest, info: RequestInfo) -> Record | None:
        """The record of a request that was received."""
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
        """Add the request body."""
        if self.log is not None and self.log.wants_bodies:
            record.request_body = body

    def answered(self, record: Record, body: bytes) -> None:
        """Add the response body."""
        if self.log is not None and self.log.wants_bodies:
            record.response_body = body

    def started(self, record: Record | None) -> None:
        """Log that the response of a watch has started."""
        if self.log is not None and record is not None:
            self.log.log(record, Outcome(200, datetime.now(UTC), stage="ResponseStarted"))

    def end(self, record: Record | None, code: int, refusal: StatusError | None) -> None:
        """Log a request that was answered or refused."""
        if self.log is not None and record is not None:
            problem = None if refusal is None else refusal.body()
            self.log.log(record, Outcome(code, datetime.now(UTC), problem))
