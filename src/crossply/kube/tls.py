"""TLS towards an API server: whom to trust, and which certificate to show."""

from __future__ import annotations

import os
import ssl
import tempfile
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Certificate:
    """A client certificate and its key, both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


def tls_context(authority: bytes, insecure: bool, shown: Certificate | None) -> ssl.SSLContext:
    """What connections are made with; without an authority the system's are trusted."""
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if shown is not None:
        _show(context, shown)
    return context


def _show(context: ssl.SSLContext, shown: Certificate) -> None:
    # OpenSSL reads certificates from files only; this one is private and lives as long as the call.
    descriptor, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(shown.certificate.rstrip() + b"\n" + shown.key)
        context.load_cert_chain(path)
    finally:
        os.unlink(path)
