"""A session with registries: requests, authentication and redirects.

`image_pull` and `image_push` are written on it.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import TracebackType
from typing import Any, Self
from urllib.request import proxy_bypass

import aiohttp
from yarl import URL

from crossply.values.backoff import pause_after
from crossply.version import __version__
from crossply.xpkg.address_guard import (
    GuardedResolver,
    check_address,
    host_of,
    is_loopback,
    is_same_origin,
    read_address,
    schemes_beside,
)
from crossply.xpkg.blob_content import CHUNK
from crossply.xpkg.failures import PackagesError, TooLarge
from crossply.xpkg.image_reference import Reference
from crossply.xpkg.keychain import CombinedKeychain, Keychain
from crossply.xpkg.progress import NoProgress, Progress
from crossply.xpkg.registry_failures import (
    MalformedAnswer,
    PullTimedOut,
    RegistryError,
    RegistryUnreachable,
    refusal,
)
from crossply.xpkg.registry_tokens import Tokens

PULL_SECONDS = 3600.0
_REDIRECTS = 5
_ATTEMPTS = 3
_FIRST_PAUSE, _LONGEST_PAUSE = 0.3, 5.0
_MAX_REFUSAL = 1 << 20
_MAX_REASON = 200
_BUSY = (429, 500, 502, 503, 504)
_BROKEN = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError)


@dataclass(frozen=True, slots=True)
class Trust:
    """Whom to believe that they are a registry."""

    authority: bytes = b""
    """Certificates to trust besides the system's, PEM."""
    insecure: bool = False
    """Skip the verification of certificates, which is insecure."""
    plain_http: frozenset[str] = frozenset()
    """Registries that are accessed without TLS, besides those on this machine."""
    must_be_public: frozenset[str] = frozenset()
    """Registries that the user did not name: they have no addresses in private networks."""
    proxies: Mapping[str, str] = field(default_factory=dict)
    """The proxy for each scheme. It looks names up itself, so only literal addresses are checked then."""
    pull_seconds: float = PULL_SECONDS
    """How long an image may take to be resolved, or to be pulled as a whole."""

    def context(self) -> ssl.SSLContext:
        """What connections are made with."""
        return _context(self.authority, self.insecure)


@lru_cache(maxsize=8)
def _context(authority: bytes, insecure: bool) -> ssl.SSLContext:
    """Made once: to read the authorities of a system takes as long as some requests."""
    context = ssl.create_default_context()
    if authority:
        context.load_verify_locations(cadata=authority.decode("ascii", "replace"))
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


@dataclass(frozen=True, slots=True)
class RegistryRequest:
    """One request to one registry."""

    method: str
    registry: str
    path: str
    """Below the registry's address, or a whole URL that the registry gave."""
    scope: str
    headers: Mapping[str, str] = field(default_factory=dict)
    data: Any = field(default=None, repr=False)
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def repeatable(self) -> bool:
        """Return whether the request changes nothing, so that it can be retried."""
        return self.method in ("GET", "HEAD")


async def read_bounded(response: aiohttp.ClientResponse, most: int, description: str) -> bytes:
    """The whole body of an answer, which must not be larger than it may be."""
    data = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK):
        data += chunk
        if len(data) > most:
            raise TooLarge(f"{description} is larger than {most} bytes")
    return bytes(data)


def scope_of(reference: Reference, actions: str = "pull") -> str:
    """The scope of a repository, as token servers read it."""
    return f"repository:{reference.repository}:{actions}"


class Registries:
    """A session with any number of registries; `async with Registries(keychain) as registries`."""

    def __init__(
        self,
        keychain: Keychain | None = None,
        trust: Trust | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._trust = trust or Trust()
        self.progress = progress or NoProgress()
        self._resolver = GuardedResolver()
        self._bases: dict[str, URL] = {}
        self._session: aiohttp.ClientSession | None = None
        self._tokens = Tokens(keychain or CombinedKeychain())

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(resolver=self._resolver, ssl=self._trust.context(), limit=16)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=60),
            headers={"User-Agent": f"crossply/{__version__}", "Accept-Encoding": "identity"},
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            # Sockets are closed by callbacks of the loop, which may be about to end.
            await asyncio.sleep(0)

    @contextlib.asynccontextmanager
    async def deadline(self, reference: Reference) -> AsyncIterator[None]:
        """Bounds the time that all requests within may take together; raises PullTimedOut."""
        seconds = self._trust.pull_seconds
        try:
            async with asyncio.timeout(seconds) as limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise PullTimedOut(
                f"{reference} was not pulled within {seconds:g} s, the deadline for images"
            ) from None

    @contextlib.asynccontextmanager
    async def ask(
        self, ask: RegistryRequest, accepted: tuple[int, ...] = (200,)
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer, if it is one of those accepted; a refusal is raised."""
        async with contextlib.AsyncExitStack() as stack:
            try:
                response = await self._answered(ask, stack)
                if response.status not in accepted:
                    body = await read_bounded(response, _MAX_REFUSAL, "a refusal")
                    url = str(response.url.with_query(None))
                    hint = self._tokens.withheld_hint(ask.registry)
                    raise refusal(ask.method, url, response.status, response.reason or "", body, hint)
                yield response
            except aiohttp.ClientError as problem:  # also while the caller reads the answer
                raise _broken(ask.registry, problem) from None

    async def _answered(
        self, ask: RegistryRequest, stack: contextlib.AsyncExitStack
    ) -> aiohttp.ClientResponse:
        base = await self._base(ask.registry)
        for attempt in range(_ATTEMPTS):
            try:
                response = await self._authenticated(ask, base, stack)
            except _BROKEN as problem:
                if isinstance(problem.__cause__, PackagesError):
                    raise problem.__cause__ from None  # what was to be sent could not be read
                if not ask.repeatable or attempt + 1 == _ATTEMPTS:
                    raise _unreachable(ask.registry, self._attempted_schemes(ask.registry), problem) from None
            else:
                if response.status not in _BUSY or not ask.repeatable or attempt + 1 == _ATTEMPTS:
                    return response
            await stack.aclose()
            await asyncio.sleep(pause_after(attempt + 1, _FIRST_PAUSE, _LONGEST_PAUSE))
        raise AssertionError("the last attempt returns or raises")

    async def _authenticated(
        self, ask: RegistryRequest, base: URL, stack: contextlib.AsyncExitStack
    ) -> aiohttp.ClientResponse:
        """The response to an authenticated request; credentials are sent only after a challenge."""
        token = self._tokens.known(ask.registry, ask.scope)
        response = await self._followed(ask, base, token, stack)
        if response.status != 401 or (ask.data is not None and not isinstance(ask.data, bytes)):
            return response
        challenges = response.headers.getall("WWW-Authenticate", [])
        assert self._session is not None
        token = await self._tokens.fetch(self._session, base, ask.registry, ask.scope, challenges)
        return await self._followed(ask, base, token, stack) if token else response

    async def _followed(
        self, ask: RegistryRequest, base: URL, token: str, stack: contextlib.AsyncExitStack
    ) -> aiohttp.ClientResponse:
        """The response after all redirects. Credentials are sent to the registry itself only."""
        assert self._session is not None, "the session is used outside of its `async with` block"
        url = base.join(read_address(ask.path, ask.registry, encoded=True)).update_query(ask.query)
        for _ in range(_REDIRECTS):
            check_address(url, ask.registry, schemes_beside(base))
            headers = dict(ask.headers)
            if token and is_same_origin(url, base):
                headers["Authorization"] = token
            options: dict[str, Any] = {"headers": headers, "data": ask.data, "allow_redirects": False}
            sent = self._session.request(ask.method, url, proxy=self._proxy(url), **options)
            response = await stack.enter_async_context(sent)
            target = response.headers.get("Location", "")
            if response.status not in (301, 302, 303, 307, 308) or not target or not ask.repeatable:
                return response
            url = url.join(read_address(target, ask.registry))
        raise RegistryUnreachable(f"{ask.registry} redirects more than {_REDIRECTS} times")

    async def _base(self, registry: str) -> URL:
        """The address of a registry. Plain http is tried on this machine only, or where it was allowed."""
        if registry not in self._bases:
            if registry not in self._trust.must_be_public:
                self._resolver.name(host_of(registry))
            if registry in self._trust.plain_http or (
                is_loopback(registry) and not await self._speaks_tls(registry)
            ):
                self._bases[registry] = URL(f"http://{registry}")
            else:
                self._bases[registry] = URL(f"https://{registry}")
        return self._bases[registry]

    def _proxy(self, url: URL) -> str | None:
        """The proxy to go through; what is on this machine is reached without."""
        host = url.host or ""
        if is_loopback(url.raw_authority) or proxy_bypass(host):
            return None
        return self._trust.proxies.get(url.scheme)

    def _attempted_schemes(self, registry: str) -> tuple[str, ...]:
        """The schemes that were tried: on this machine both."""
        base = self._bases[registry]
        return ("https", "http") if is_loopback(registry) and base.scheme == "http" else (base.scheme,)

    async def _speaks_tls(self, registry: str) -> bool:
        assert self._session is not None, "the session is used outside of its `async with` block"
        try:
            async with self._session.head(f"https://{registry}/v2/", allow_redirects=False):
                return True
        except (ssl.SSLCertVerificationError, aiohttp.ClientConnectorCertificateError):
            return True
        except aiohttp.ClientError:
            return False


def _unreachable(registry: str, schemes: tuple[str, ...], problem: BaseException) -> RegistryUnreachable:
    reason = _reason(registry, problem)
    return RegistryUnreachable("; ".join(f'Get "{scheme}://{registry}/v2/": {reason}' for scheme in schemes))


def _broken(registry: str, problem: aiohttp.ClientError) -> RegistryError:
    """The error of an answer that cannot be read, or not to its end."""
    if isinstance(problem, aiohttp.ClientResponseError):
        sentence = " ".join(problem.message.split())[:_MAX_REASON]
        return MalformedAnswer(f"{registry} answers with malformed HTTP: {sentence}")
    return RegistryUnreachable(
        f"{registry} broke off in the middle of an answer: {_reason(registry, problem)}"
    )


def _reason(registry: str, problem: BaseException) -> str:
    """What happened, in the words that Go has for it."""
    if isinstance(problem, aiohttp.ClientConnectorCertificateError):
        return f"its certificate is not trusted: {problem.certificate_error}"
    if isinstance(problem, aiohttp.ClientConnectorDNSError):
        return f"dial tcp: lookup {host_of(registry)}: no such host"
    if isinstance(problem, aiohttp.ClientConnectorError):
        reason = problem.os_error.strerror or str(problem.os_error)
        if isinstance(problem.os_error, ConnectionRefusedError):
            reason = "connection refused"
        port = "" if URL(f"//{registry}").explicit_port else ":443"
        return f"dial tcp {registry}{port}: connect: {reason.lower()}"
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    return str(problem) or "the connection was closed"
