"""Identifies the user of a request: by client certificate, then by bearer token."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from crossply.apiserver.auth.client_certificates import read_certificate
from crossply.apiserver.auth.identities import ANONYMOUS
from crossply.apiserver.auth.service_account_tokens import AccountTokens
from crossply.apiserver.auth.static_tokens import StaticTokens
from crossply.apiserver.auth.token_results import TokenIdentity, TokenRefused
from crossply.apiserver.endpoints.request_info import User
from crossply.apiserver.endpoints.status_errors import unauthorized

_OPEN_TO_ALL = ("/healthz", "/livez", "/readyz", "/version")
_INVALID = "invalid bearer token"


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
        certificate = read_certificate(peer_certificate)
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
