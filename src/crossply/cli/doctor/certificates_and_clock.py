"""Checks of the way to the API server: TLS, certificates that expire, and its clock."""

from __future__ import annotations

import asyncio
import http.client
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from crossply.cli.doctor.finding import FAIL, OK, WARN, Finding
from crossply.kube.config import ClusterConfig
from crossply.kube.tls import tls_context

_SECONDS = 10.0
_SOON_DAYS = 14
_SKEW, _MUCH_SKEW = 5.0, 120.0
"""Seconds: tokens and certificates are refused by servers whose clock is minutes off."""


class Greeting(NamedTuple):
    """What a server shows before anybody logs in."""

    date: str
    certificate: bytes
    """DER; empty without TLS."""


def check_connection(config: ClusterConfig, greeting: Greeting, now: datetime) -> Iterator[Finding]:
    """Checks by the server's response and the client certificate."""
    if config.insecure:
        yield Finding(
            "certificate of the server",
            WARN,
            "it is not verified: insecure-skip-tls-verify is set",
            "set certificate-authority-data in the kubeconfig",
        )
    elif greeting.certificate:
        yield _expiry("certificate of the server", greeting.certificate, now, "renew it on the server")
    if config.certificate is not None:
        pem = config.certificate.certificate.decode()
        der = ssl.PEM_cert_to_DER_cert(pem[: pem.index("-----END") + len("-----END CERTIFICATE-----")])
        yield _expiry("your certificate", der, now, "get a new kubeconfig")
    if greeting.date:
        yield _clock(greeting.date, now)


async def greet(config: ClusterConfig) -> Greeting:
    """Ask the server for its version without credentials; raises OSError or HTTPException."""
    return await asyncio.to_thread(_greet, config)


def _greet(config: ClusterConfig) -> Greeting:
    parts = urlsplit(config.server)
    host = parts.hostname or ""
    if parts.scheme == "https":
        context = tls_context(config.authority, config.insecure, None)
        secure = http.client.HTTPSConnection(host, parts.port, timeout=_SECONDS, context=context)
        if config.server_name:
            context.check_hostname = False
        connection: http.client.HTTPConnection = secure
    else:
        connection = http.client.HTTPConnection(host, parts.port, timeout=_SECONDS)
    try:
        connection.connect()
        sock = connection.sock
        certificate = sock.getpeercert(True) if isinstance(sock, ssl.SSLSocket) else b""
        connection.request("GET", "/version")
        response = connection.getresponse()
        response.read(1 << 16)
        return Greeting(response.headers.get("Date", ""), certificate or b"")
    finally:
        connection.close()


def _expiry(check: str, der: bytes, now: datetime, fix: str) -> Finding:
    from cryptography.x509 import load_der_x509_certificate

    ends = load_der_x509_certificate(der).not_valid_after_utc
    days = (ends - now).days
    text = f"valid until {ends:%Y-%m-%d}"
    if now > ends:
        return Finding(check, FAIL, f"it expired on {ends:%Y-%m-%d}", fix)
    return (
        Finding(check, WARN, f"{text}, {days} days", fix) if days < _SOON_DAYS else Finding(check, OK, text)
    )


def _clock(date: str, now: datetime) -> Finding:
    try:
        skew = (parsedate_to_datetime(date).astimezone(UTC) - now).total_seconds()
    except ValueError:
        return Finding("clock", WARN, f"the server sends a Date that is none: {date!r}")
    text = f"{abs(skew):.0f} s {'behind' if skew > 0 else 'ahead of'} the server's"
    if abs(skew) <= _SKEW:
        return Finding("clock", OK, "the same as the server's")
    return Finding("clock", FAIL if abs(skew) > _MUCH_SKEW else WARN, text, "timedatectl set-ntp true")
