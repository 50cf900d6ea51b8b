"""What we show a registry: a password, or a token that a token server gives for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import aiohttp
import orjson
from yarl import URL

from crossply.packages.addresses import check_address, may_see_credentials, read_address
from crossply.packages.challenge import Challenge, read_challenges
from crossply.packages.keychain import ANONYMOUS, Keychain, Login
from crossply.packages.registry_failures import NotAllowed, RegistryUnreachable, refusal

_MAX_ANSWER = 1 << 20
_CLIENT = "crossply"


class Tokens:
    """The headers that registries accepted, by registry and what they are for."""

    def __init__(self, keychain: Keychain) -> None:
        self._keychain = keychain
        self._known: dict[tuple[str, str], str] = {}

    def known(self, registry: str, scope: str) -> str:
        """What was shown before; empty where nothing was."""
        return self._known.get((registry, scope), "")

    async def fetch(
        self,
        session: aiohttp.ClientSession,
        registry: str,
        scope: str,
        headers: Sequence[str],
        schemes: tuple[str, ...],
    ) -> str:
        """What the registry asks for; empty where there is nothing to show."""
        login = await self._keychain.login(registry) or ANONYMOUS
        found = {challenge.scheme: challenge for challenge in read_challenges(headers)}
        if login.registry_token:
            shown = f"Bearer {login.registry_token}"
        elif "bearer" in found:
            asking = _Asking(session, registry, scope, schemes)
            shown = f"Bearer {await asking.token(found['bearer'], login)}"
        else:
            shown = login.basic if "basic" in found else ""
        self._known[registry, scope] = shown
        return shown


class _Asking:
    """One request for a token."""

    def __init__(
        self, session: aiohttp.ClientSession, registry: str, scope: str, schemes: tuple[str, ...]
    ) -> None:
        self._session, self._registry = session, registry
        self._scope, self._schemes = scope, schemes

    async def token(self, challenge: Challenge, login: Login) -> str:
        realm = read_address(challenge.parameters.get("realm", ""), self._registry)
        check_address(realm, self._registry, self._schemes)
        wanted = {"scope": challenge.parameters.get("scope") or self._scope}
        if challenge.parameters.get("service"):
            wanted["service"] = challenge.parameters["service"]
        trusted = may_see_credentials(realm, self._registry)
        try:
            if trusted and login.identity_token:
                return await self._refreshed(realm, wanted, login)
            return await self._issued(realm, wanted, login.basic if trusted else "")
        except aiohttp.ClientError as problem:
            raise RegistryUnreachable(
                f"cannot reach {realm.host}, which gives out tokens for {self._registry}: {problem}"
            ) from None

    async def _issued(self, realm: URL, wanted: dict[str, str], basic: str) -> str:
        headers = {"Authorization": basic} if basic else {}
        url = realm.update_query(wanted)
        async with self._session.get(url, headers=headers, allow_redirects=False) as response:
            return await self._read(response)

    async def _refreshed(self, realm: URL, wanted: dict[str, str], login: Login) -> str:
        form = {
            **wanted,
            "grant_type": "refresh_token",
            "refresh_token": login.identity_token,
            "client_id": _CLIENT,
        }
        async with self._session.post(realm, data=form, allow_redirects=False) as response:
            return await self._read(response)

    async def _read(self, response: aiohttp.ClientResponse) -> str:
        body = b""
        async for chunk in response.content.iter_chunked(_MAX_ANSWER):
            body += chunk
            if len(body) > _MAX_ANSWER:
                raise NotAllowed(f"{response.url.host} gave too large a token for {self._registry}")
        if response.status != 200:
            url = str(response.url.with_query(None))
            raise refusal(response.method, url, response.status, response.reason or "", body)
        try:
            answer: Any = orjson.loads(body)
            token = answer.get("token") or answer.get("access_token")
        except (orjson.JSONDecodeError, AttributeError):
            token = None
        if not isinstance(token, str) or not token.isascii() or any(char.isspace() for char in token):
            raise NotAllowed(f"{response.url.host} gave no token for {self._registry}")
        return token
