"""Limits on what clients may use: memory, time, connections. What exceeds them is refused, not queued.

They bound everything that clients can request: with so many connections, concurrent requests and bytes, the
server cannot grow further. `flow_control` decides how much of it each user gets.
"""

from __future__ import annotations

import resource
from dataclasses import dataclass

MIB = 1 << 20
_RESERVED_FILES = 64
"""Files that are not connections: the database, logs, certificates, calls to webhooks."""


@dataclass(frozen=True, slots=True)
class Limits:
    body: int = 3 * MIB
    """The largest request body, as in Kubernetes."""
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
    """From a request's headers to the last byte of its response, except for watches and backups."""
    body_idle_seconds: float = 20.0
    """How long a client may pause while it sends a body."""
    stall_seconds: float = 60.0
    """How long a client may not read what it was sent."""
    stop_seconds: float = 25.0
    """How long requests may continue after the server was told to stop."""
    requests: int = 600
    """Concurrent requests, at most a quarter of the connections; health checks and watches are not counted.
    """
    received_bytes: int = 96 * MIB
    """Received bytes of request bodies, of all requests together."""
    unsent_bytes: int = 256 * MIB
    """Unsent bytes of large responses, of all requests together."""
    unsent: int = 64 << 10
    """Unsent bytes that a connection may buffer without counting; beyond that the sender waits."""
    connections: int = 10_000
    """Concurrent connections; fewer where the system allows fewer files."""


def raise_file_limit() -> None:
    """Raise the soft limit of open files to the hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard and hard != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def connections_within(requested: int) -> int:
    """How many connections the limit of open files allows."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return requested
    return max(1, min(requested, soft - _RESERVED_FILES))
