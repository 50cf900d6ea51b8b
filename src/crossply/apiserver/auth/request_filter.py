"""Authenticates, impersonates and authorizes a request."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web

from crossply.apiserver.audit import Record
from crossply.apiserver.auth.authentication import Authenticator, anonymous_for
from crossply.apiserver.auth.impersonation import impersonate
from crossply.apiserver.auth.rbac.authorizer import Authorizer
from crossply.apiserver.auth.rbac.forbidden_errors import denied
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import StatusError


class AuthFilter:
    def __init__(self, authenticator: Authenticator, authorizer: Authorizer) -> None:
        self._authenticator = authenticator
        self._authorizer = authorizer

    async def check(self, request: web.BaseRequest, info: RequestInfo, record: Record | None = None) -> User:
        """The effective user of the request, also noted in the audit record; raises StatusError."""
        user = await self._authenticator.authenticate(_peer_certificate(request), request.headers)
        if user is None:
            return anonymous_for(info.path)
        if record is not None:
            record.user = user
        acting = impersonate(self._authorizer, user, info, request.headers)
        if acting is not None:
            user = acting.user
            if record is not None:
                record.impersonated, record.constraint = acting.user, acting.constraint
        decision = self._authorizer.authorize(user, info)
        if record is not None:
            record.annotations["authorization.k8s.io/decision"] = "allow" if decision.allowed else "forbid"
            record.annotations["authorization.k8s.io/reason"] = decision.reason
        if not decision.allowed:
            raise denied(user, info, decision.reason)
        return user

    def access_checker(self, user: User, info: RequestInfo) -> Callable[[], StatusError | None]:
        """Returns a check of whether access was revoked since; it is cheap if no role changed."""
        generation = self._authorizer.generation

        def refusal() -> StatusError | None:
            nonlocal generation
            if generation == self._authorizer.generation:
                return None
            generation = self._authorizer.generation
            decision = self._authorizer.authorize(user, info)
            return None if decision.allowed else denied(user, info, decision.reason)

        return refusal


def _peer_certificate(request: web.BaseRequest) -> bytes | None:
    transport = request.transport
    ssl_object = transport.get_extra_info("ssl_object") if transport is not None else None
    certificate: bytes | None = ssl_object.getpeercert(True) if ssl_object is not None else None
    return certificate
