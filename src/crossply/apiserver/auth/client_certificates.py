"""The user of a client certificate: the common name is the user, organizations are groups.

TLS has verified the chain already. Certificates are DER bytes, or the dict of `ssl`'s `getpeercert()`, which
lacks only the fingerprint.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from crossply.apiserver.auth.identities import CREDENTIAL_ID, authenticated
from crossply.apiserver.endpoints.request_info import User

_UID_OID = "1.3.6.1.4.1.57683.2"


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """The user of a certificate, and its validity period."""

    user: User
    not_before: datetime
    not_after: datetime

    def is_valid_at(self, time: datetime) -> bool:
        """Whether the certificate is valid; a connection may outlive it."""
        return self.not_before <= time <= self.not_after


def read_certificate(peer: bytes | dict[str, Any] | None) -> ClientCertificate | None:
    """The certificate of a connection; None without one, or if it names no user."""
    if not peer:
        return None
    return _from_der(peer) if isinstance(peer, bytes) else _from_dict(peer)


@lru_cache(maxsize=1024)
def _from_der(der: bytes) -> ClientCertificate | None:
    from cryptography.x509 import load_der_x509_certificate
    from cryptography.x509.oid import NameOID

    subject: dict[str, list[str]] = {}
    try:
        certificate = load_der_x509_certificate(der)
        for attribute in certificate.subject:
            subject.setdefault(attribute.oid.dotted_string, []).append(str(attribute.value))
    except ValueError:  # stricter about the encoding than TLS is
        return None
    names = subject.get(NameOID.COMMON_NAME.dotted_string, [])
    if not names or not names[-1]:
        return None
    user = User(
        names[-1],
        tuple(subject.get(NameOID.ORGANIZATION_NAME.dotted_string, ())),
        uid=subject.get(_UID_OID, [""])[0],
        extra={CREDENTIAL_ID: (f"X509SHA256={hashlib.sha256(der).hexdigest()}",)},
    )
    return ClientCertificate(
        authenticated(user), certificate.not_valid_before_utc, certificate.not_valid_after_utc
    )


def _from_dict(peer: dict[str, Any]) -> ClientCertificate | None:
    import ssl

    subject = [pair for part in peer.get("subject", ()) for pair in part]
    names = [value for key, value in subject if key == "commonName"]
    if not names or not names[-1]:
        return None
    groups = tuple(value for key, value in subject if key == "organizationName")
    seconds = (ssl.cert_time_to_seconds(peer[field]) for field in ("notBefore", "notAfter"))
    first, last = (datetime.fromtimestamp(timestamp, UTC) for timestamp in seconds)
    return ClientCertificate(authenticated(User(names[-1], groups)), first, last)
