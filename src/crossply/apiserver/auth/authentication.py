"""Identifies the user of a request: by client certificate, then by bearer token.

The common name of a certificate is the user, organizations are groups. TLS has verified the chain already.
Certificates are DER bytes, or the dict of `ssl`'s `getpeercert()`, which lacks only the fingerprint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from crossply.apiserver.auth.service_account_tokens import AccountTokens
from crossply.apiserver.auth.static_tokens import StaticTokens
from crossply.apiserver.auth.system_users_and_groups import ANONYMOUS, CREDENTIAL_ID, authenticated
from crossply.apiserver.auth.token_results import TokenIdentity, TokenRefused
from crossply.apiserver.endpoints.request_info import User
from crossply.apiserver.endpoints.status_errors import unauthorized

_OPEN_TO_ALL = ("/healthz", "/livez", "/readyz", "/version")
_INVALID = "invalid bearer token"

_UID_OID = "1.3.6.1.4.1.57683.2"


def anonymous_for(path: str) -> User:
    """The anonymous user for health and version; any other path raises Unauthorized."""
    if path.rstrip("/") in _OPEN_TO_ALL:
        return ANONYMOUS
    raise unauthorized()


class Authenticator:
    def __init__(self, clock: Callable[[], datetime], static: StaticTokens, accounts: AccountTokens) -> None:
        self._clock = clock
        self._static = static
        self._accounts = accounts

    async def authenticate(
        self, peer_certificate: bytes | dict[str, Any] | None, headers: Mapping[str, str]
    ) -> User | None:
        """The user; None without credentials. Invalid credentials raise Unauthorized."""
        certificate = _read_certificate(peer_certificate)
        if certificate is not None and certificate.is_valid_at(self._clock()):
            return certificate.user
        token = _bearer(headers.get("Authorization"))
        if token:
            try:
                return self.authenticate_token(token).user
            except TokenRefused:
                raise unauthorized() from None
        if certificate is not None:
            raise unauthorized()
        return None

    def authenticate_token(self, token: str, audiences: Sequence[str] = ()) -> TokenIdentity:
        """The identity of a bearer token that is valid for one of the audiences (or for this server)."""
        user = self._static.find(token)
        if user is not None:
            return self._for_this_server(user, audiences)
        try:
            identity = self._accounts.authenticate(token, audiences)
        except TokenRefused as problem:
            raise TokenRefused(f"[{_INVALID}, {problem}]") from None
        if identity is None:
            raise TokenRefused(_INVALID)
        return identity

    def _for_this_server(self, user: User, audiences: Sequence[str]) -> TokenIdentity:
        """A static token names no audience, so it is valid for the server's own only."""
        shared = tuple(own for own in self._accounts.audiences if not audiences or own in audiences)
        if not shared:
            raise TokenRefused(_INVALID)
        return TokenIdentity(user, shared)


def _bearer(header: str | None) -> str:
    """The token of an Authorization header; empty for other schemes."""
    scheme, _, rest = (header or "").strip().partition(" ")
    return rest.partition(" ")[0] if scheme.lower() == "bearer" else ""


@dataclass(frozen=True, slots=True)
class _ClientCertificate:
    """The user of a certificate, and its validity period."""

    user: User
    not_before: datetime
    not_after: datetime

    def is_valid_at(self, time: datetime) -> bool:
        """Whether the certificate is valid; a connection may outlive it."""
        return self.not_before <= time <= self.not_after


def _read_certificate(peer: bytes | dict[str, Any] | None) -> _ClientCertificate | None:
    """The certificate of a connection; None without one, or if it names no user."""
    if not peer:
        return None
    return _from_der(peer) if isinstance(peer, bytes) else _from_dict(peer)


@lru_cache(maxsize=1024)
def _from_der(der: bytes) -> _ClientCertificate | None:
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
    return _ClientCertificate(
        authenticated(user), certificate.not_valid_before_utc, certificate.not_valid_after_utc
    )


def _from_dict(peer: dict[str, Any]) -> _ClientCertificate | None:
    import ssl

    subject = [pair for part in peer.get("subject", ()) for pair in part]
    names = [value for key, value in subject if key == "commonName"]
    if not names or not names[-1]:
        return None
    groups = tuple(value for key, value in subject if key == "organizationName")
    seconds = (ssl.cert_time_to_seconds(peer[field]) for field in ("notBefore", "notAfter"))
    first, last = (datetime.fromtimestamp(timestamp, UTC) for timestamp in seconds)
    return _ClientCertificate(authenticated(User(names[-1], groups)), first, last)
