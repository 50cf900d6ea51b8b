"""The door: who asks, whom they act as, and whether they may."""

from __future__ import annotations

from aiohttp import web

from crossply.apiserver.auth.authentication import Authenticator, anonymous_for
from crossply.apiserver.auth.impersonation import impersonate
from crossply.apiserver.auth.rbac.authorizer import Authorizer
from crossply.apiserver.requests import RequestInfo, User


class Gate:
    """Lets requests in, or refuses them with the right Status."""

    def __init__(self, authenticator: Authenticator, authorizer: Authorizer) -> None:
        self._authenticator = authenticator
        self._authorizer = authorizer

    async def admit(self, request: web.BaseRequest, info: RequestInfo) -> User:
        """The user on whose behalf the request is served."""
        user = await self._authenticator.authenticate(_peer_certificate(request), request.headers)
        if user is None:
            return anonymous_for(info.path)
        acting = impersonate(self._authorizer, user, info, request.headers)
        if acting is not None:
            user = acting.user
        self._authorizer.require(user, info)
        return user


def _peer_certificate(request: web.BaseRequest) -> bytes | None:
    transport = request.transport
    ssl_object = transport.get_extra_info("ssl_object") if transport is not None else None
    certificate: bytes | None = ssl_object.getpeercert(True) if ssl_object is not None else None
    return certificate
