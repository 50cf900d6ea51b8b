"""What PostgreSQL refused, in sentences that say what to do next.

Messages are built from the parts of an error that the server names, never from its whole text: that quotes
the statement, which may hold a password's verifier.
"""

from __future__ import annotations

import psycopg
from psycopg import errors

from crossply.provider import ExternalError

from .connection_pool import Login


def explained(problem: psycopg.Error, login: Login) -> ExternalError:
    """The error of a statement."""
    parts = (problem.diag.message_primary, problem.diag.message_detail)
    text = ": ".join(part.strip().replace("\n", "; ") for part in parts if part)
    if not text:
        return unreachable(problem, login)
    return ExternalError(text, hint=_hint(problem, login))


def unreachable(problem: psycopg.Error, login: Login) -> ExternalError:
    """The error of a connection that could not be opened, or broke."""
    reason = _reason(problem)
    if "authentication failed" in reason or "no password supplied" in reason:
        text = f"PostgreSQL at {login.address} refused the login of {login.username!r}: {reason}"
        hint = "correct username and password in the Secret that the ProviderConfig names"
    elif "does not support SSL" in reason or "certificate" in reason:
        text = f"cannot connect to PostgreSQL at {login.address} with sslMode {login.sslmode}: {reason}"
        hint = "set spec.sslMode of the ProviderConfig to what the server offers, such as require or disable"
    else:
        text = f"cannot connect to PostgreSQL at {login.address}: {reason}"
        hint = "check that the server runs, and endpoint and port in the Secret that the ProviderConfig names"
    return ExternalError(text, hint=hint)


def _reason(problem: psycopg.Error) -> str:
    """The last line of libpq's message, without the address before it."""
    lines = [line for line in str(problem).splitlines() if line.strip() and not line.startswith("LINE ")]
    last = (
        lines[0]
        if len(lines) == 1
        else next((line for line in lines if "FATAL" in line), lines[0] if lines else "")
    )
    return (
        last.rsplit("failed: ", 1)[-1]
        .replace("FATAL:  ", "")
        .replace("server closed", "the server closed")
        .strip()
    )


def _hint(problem: psycopg.Error, login: Login) -> str:
    match problem:
        case errors.InsufficientPrivilege():
            return f"grant the right to {login.username!r}, the user in the ProviderConfig, or use another"
        case errors.DependentObjectsStillExist():
            return "delete these first; it is tried again"
        case errors.ObjectInUse():
            return "end these sessions, or set spec.forProvider.forceDrop; it is tried again"
        case errors.UndefinedObject() | errors.InvalidCatalogName() | errors.InvalidSchemaName():
            return "correct the name, or create what it names first; it is tried again"
        case errors.TooManyConnections():
            return "raise max_connections of the server, or close sessions; it is tried again"
    return problem.diag.message_hint or ""
