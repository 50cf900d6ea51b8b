"""The messages of Go's client for failed requests to an API server."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

import aiohttp

from crossply.kube.failures import KubeError, Unauthorized, Unreachable
from crossply.values.goquote import quote


def discovery_failure(problem: KubeError, server: str) -> str:
    if isinstance(problem, Unauthorized):
        return "the server has asked for the client to provide credentials"
    return failure(problem, f"{server}/api?timeout=32s")


def failure(problem: KubeError, url: str) -> str:
    """Why a request failed, as Go's client says it."""
    if not isinstance(problem, Unreachable):
        return str(problem)
    return f"Get {quote(url)}: {_broken(problem.__cause__, url) or problem}"


def _broken(cause: BaseException | None, url: str) -> str:
    parts = urlsplit(url)
    host = parts.hostname or ""
    address = f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    if isinstance(cause, aiohttp.ClientConnectorCertificateError):
        return f"tls: failed to verify certificate: x509: {cause.certificate_error}"
    if isinstance(cause, aiohttp.ClientConnectorError):
        if isinstance(cause.os_error, socket.gaierror):
            return f"dial tcp: lookup {host}: no such host"
        if cause.os_error.errno:
            return f"dial tcp {address}: connect: {os.strerror(cause.os_error.errno).lower()}"
    return f"dial tcp {address}: i/o timeout" if isinstance(cause, TimeoutError) else ""
