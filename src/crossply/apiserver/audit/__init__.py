"""The audit log: who did what, and with which result."""

from crossply.apiserver.audit.events import Level, Outcome, Record
from crossply.apiserver.audit.log import AuditError, AuditLog

__all__ = ["AuditError", "AuditLog", "Level", "Outcome", "Record"]
