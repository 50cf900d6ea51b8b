"""How much clients may take: of memory, of time, of connections. Everything beyond is refused, not queued.

What is bounded here is what any client can ask for. The rest follows from it: with so many connections, so
many requests under way and so many bytes held for them, the server cannot grow further, whoever asks. How
much of it each user gets is decided by `flow_control`.
"""

from __future__ import annotations

import resource
from dataclasses import dataclass

MIB = 1 << 20
_RESERVED_FILES = 64
"""Files that are not connections: the database, logs, certificates, calls to webhooks."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one server."""

    body: int = 3 * MIB
    """The largest request body, as Kubernetes'."""
    header_line: int = 64 << 10
    """The longest request line or header."""
    headers: int = 256 << 10
    """All headers of a request together."""
    header_seconds: float = 30.0
    """From the first byte of a request to the end of its headers."""
    idle_seconds: float = 120.0
    """How long a connection may stay open without a request."""
    handshake_seconds: float = 10.0
    request_seconds: float = 60.0
    """From a request's headers to the last byte of its answer; watches and backups excepted."""
    body_idle_seconds: float = 20.0
    """How long a client may pause while it sends a body."""
    stall_seconds: float = 60.0
    """How long a client may leave what it was sent lying."""
    stop_seconds: float = 25.0
    """How long requests may go on after the server was told to stop."""
    requests: int = 600
    """Requests under way at once, at most one for four connections; health and watches are not counted."""
    received_bytes: int = 96 * MIB
    """Bytes received of request bodies, of all requests together."""
    unsent_bytes: int = 256 * MIB
    """Answers that clients have not taken yet and that are not small, of all requests together."""
    unsent: int = 64 << 10
    """Bytes of answers that may wait in a connection without counting; beyond it the sender waits, too."""
    connections: int = 10_000
    """Connections open at once; less where the system allows fewer files."""


def raise_file_limit() -> None:
    """Use all the open files that the system grants; many systems begin with a low, soft limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard and hard != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def connections_within(requested: int) -> int:
    """How many connections can be open without running out of files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return requested
    return max(1, min(requested, soft - _RESERVED_FILES))
