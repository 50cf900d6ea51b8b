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
    load_private_pem(context, shown.certificate.rstrip() + b"\n" + shown.key)


def load_private_pem(context: ssl.SSLContext, pem: bytes) -> None:
    """Have a context show a certificate whose key is in the same text."""
    # OpenSSL reads certificates from files only; this one is in memory, and so never left on a disk.
    if hasattr(os, "memfd_create"):
        with open(os.memfd_create("crossply-pem"), "wb", buffering=0) as memory:
            memory.write(pem)
            context.load_cert_chain(f"/proc/self/fd/{memory.fileno()}")
        return
    with tempfile.TemporaryDirectory(prefix="crossply-pem-") as directory:
        path = os.path.join(directory, "tls.pem")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pem)
        context.load_cert_chain(path)
