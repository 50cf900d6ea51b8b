"""Credentials for requests to a registry: a password, or a token from a token server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import aiohttp
import orjson
from yarl import URL

from crossply.xpkg.address_guard import check_address, may_see_credentials, read_address, schemes_beside
from crossply.xpkg.keychain import ANONYMOUS, Keychain, KeychainError, Login
from crossply.xpkg.registry_failures import NotAllowed, RegistryUnreachable, refusal

_MAX_ANSWER = 1 << 20
_CLIENT = "crossply"


class Tokens:
    """The headers that registries accepted, by registry and what they are for."""

    def __init__(self, keychain: Keychain) -> None:
        self._keychain = keychain
        self._known: dict[tuple[str, str], str] = {}
        self._withheld: dict[str, str] = {}
        """The token servers that a login was not shown to, by registry."""

    def known(self, registry: str, scope: str) -> str:
        """What was shown before; empty where nothing was."""
        return self._known.get((registry, scope), "")

    async def fetch(
        self,
        session: aiohttp.ClientSession,
        base: URL,
        registry: str,
        scope: str,
        headers: Sequence[str],
    ) -> str:
        """What the registry at `base` asks for; empty where there is nothing to show."""
        login = await self._keychain.login(registry) or ANONYMOUS
        challenges = {challenge.scheme: challenge for challenge in read_challenges(headers)}
        if login.registry_token:
            shown = f"Bearer {login.registry_token}"
        elif "bearer" in challenges:
            realm = read_address(challenges["bearer"].parameters.get("realm", ""), registry)
            check_address(realm, registry, schemes_beside(base))
            if not may_see_credentials(realm, base):
                login = await self._login_elsewhere(realm, registry, login)
            asking = _Asking(session, registry, scope, self.withheld_hint(registry))
            shown = f"Bearer {await asking.token(realm, challenges['bearer'], login)}"
        else:
            shown = login.basic if "basic" in challenges else ""
        self._known[registry, scope] = shown
        return shown

    def withheld_hint(self, registry: str) -> str:
        """What to do where a login was not shown to the server that gives out tokens; else empty."""
        server = self._withheld.get(registry)
        if server is None:
            return ""
        return (
            f"{registry} has {server} give out its tokens, and a login is shown only to the host and port "
            f"that it is for: if you trust {server} with it, add an entry for {server} with the same login "
            "to the Docker configuration or pull secret"
        )

    async def _login_elsewhere(self, realm: URL, registry: str, login: Login) -> Login:
        """The login for a token server at another host or port: the same one, if it was given for both.

        The registry gets the token. A login that is only for the other server would let a registry name any
        server as its token server, and get a token for whatever the login may do there.
        """
        server = f"{realm.raw_host}:{realm.port}" if realm.explicit_port else str(realm.raw_host)
        try:
            own = await self._keychain.login(server) or ANONYMOUS
        except KeychainError:
            own = ANONYMOUS  # helpers may know nothing but registries; the token may not need a login
        if own == login:
            return login
        self._withheld[registry] = server
        return ANONYMOUS


class _Asking:
    """One request for a token."""

    def __init__(self, session: aiohttp.ClientSession, registry: str, scope: str, hint: str) -> None:
        self._session, self._registry = session, registry
        self._scope, self._hint = scope, hint

    async def token(self, realm: URL, challenge: Challenge, login: Login) -> str:
        parameters = {"scope": challenge.parameters.get("scope") or self._scope}
        if challenge.parameters.get("service"):
            parameters["service"] = challenge.parameters["service"]
        try:
            if login.identity_token:
                return await self._refreshed(realm, parameters, login)
            return await self._issued(realm, parameters, login.basic)
        except aiohttp.ClientError as problem:
            raise RegistryUnreachable(
                f"cannot reach {realm.host}, which gives out tokens for {self._registry}: {problem}"
            ) from None

    async def _issued(self, realm: URL, parameters: dict[str, str], basic: str) -> str:
        headers = {"Authorization": basic} if basic else {}
        url = realm.update_query(parameters)
        async with self._session.get(url, headers=headers, allow_redirects=False) as response:
            return await self._read(response)

    async def _refreshed(self, realm: URL, parameters: dict[str, str], login: Login) -> str:
        form = {
            **parameters,
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
            raise refusal(response.method, url, response.status, response.reason or "", body, self._hint)
        try:
            answer: Any = orjson.loads(body)
            token = answer.get("token") or answer.get("access_token")
        except (orjson.JSONDecodeError, AttributeError):
            token = None
        if not isinstance(token, str) or not token.isascii() or any(char.isspace() for char in token):
            raise NotAllowed(f"{response.url.host} gave no token for {self._registry}")
        return token


_PAIR = re.compile(r'\s*([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)')
_LONGEST = 8192


class Challenge(NamedTuple):
    """One way to authenticate, with its parameters."""

    scheme: str
    parameters: dict[str, str]


def read_challenges(headers: Sequence[str]) -> list[Challenge]:
    """The authentication schemes that a registry offers; unknown ones are left out."""
    return [challenge for header in headers if (challenge := _read(header[:_LONGEST])) is not None]


def _read(header: str) -> Challenge | None:
    scheme, _, rest = header.strip().partition(" ")
    if not scheme:
        return None
    parameters = {}
    position = 0
    while pair := _PAIR.match(rest, position):
        name, quoted, plain = pair.groups()
        value = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain
        parameters[name.lower()] = value
        position = pair.end()
    return Challenge(scheme.lower(), parameters)
