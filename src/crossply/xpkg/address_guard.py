"""Which addresses the registry client connects to, and which of them get credentials.

A registry is not trusted: where it redirects to, and which token service it names, is its
claim only. Three rules keep that from being abused. Only http and https are used, and http
only where the registry itself is accessed by it. Addresses inside private networks are reached only where the
user named them. And credentials go to the host and port that they were given for, and nowhere else.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from crossply.xpkg.failures import PackagesError
from crossply.xpkg.image_reference import DOCKER_HUB
from crossply.xpkg.registry_failures import MalformedAnswer

_TOKEN_SERVERS = {
    f"https://{DOCKER_HUB}": "https://auth.docker.io",
    "https://registry.gitlab.com": "https://gitlab.com",
}
"""Public registries whose tokens come from another host of the same owner."""
_WITH_IPV4 = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96")))
"""Addresses that stand for the IPv4 address in their last 32 bits: NAT64, SIIT, and IPv4-compatible ones."""
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
_OLD_IPV4 = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}\.?", re.IGNORECASE)
"""One to four numbers, decimal, octal or hexadecimal: resolvers read them as IPv4 addresses."""
_LOOPBACK_NAMES = (".localhost", ".local")


class AddressRefused(PackagesError):
    """A registry redirects to an address that is not allowed."""

    code = "CP-920"
    hint = "if this is your own registry, name the address in its configuration by a public name"


def host_of(registry: str) -> str:
    """The host of a registry, without its port."""
    return URL(f"//{registry}").host or ""


def is_loopback(registry: str) -> bool:
    """Return whether a registry is on this machine, where plain http is allowed."""
    host = host_of(registry)
    if host == "localhost" or host.endswith(_LOOPBACK_NAMES):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def is_public(host: str) -> bool:
    """Return whether a host may be anywhere on the Internet; a name may, an address must be."""
    address = _address(host)
    if address is None:
        return host.removesuffix(".") != "localhost"
    if isinstance(address, ipaddress.IPv6Address) and (address.is_site_local or address in _LOCAL_NAT64):
        return False
    return address.is_global and not address.is_multicast


async def is_public_host(host: str) -> bool:
    """Return whether a host is on the Internet, also by the addresses of its name; one without any may be."""
    if not is_public(host) or is_loopback(host):
        return False
    try:
        addresses = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return True
    return all(is_public(str(address[0])) for *_, address in addresses)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _old_address(host)
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback:
        return address
    if any(address in network for network in _WITH_IPV4):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _old_address(host: str) -> ipaddress.IPv4Address | None:
    if not _OLD_IPV4.fullmatch(host):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host.removesuffix(".")))
    except OSError:
        return None


def read_address(text: str, registry: str, *, encoded: bool = False) -> URL:
    """The address that a registry refers to, which may be a part of one."""
    try:
        return URL(text, encoded=encoded)
    except ValueError as problem:
        message = f"{registry} refers to {text[:200]!r}, which is no address: {problem}"
        raise MalformedAnswer(message) from None


def check_address(url: URL, registry: str, schemes: tuple[str, ...]) -> None:
    """Raise unless a registry may send us to this address."""
    if url.scheme not in schemes:
        allowed = " or ".join(schemes)
        raise AddressRefused(f"{registry} refers to {_shown(url)}, but only {allowed} may be used")
    host = url.host or ""
    if host != host_of(registry) and not is_public(host):
        raise AddressRefused(f"{registry} refers to {_shown(url)}, which is inside of a private network")


def _shown(url: URL) -> str:
    return str(url.with_query(None).with_user(None).with_fragment(None)) if url.host else str(url)[:200]


def schemes_beside(base: URL) -> tuple[str, ...]:
    """The schemes that a registry at this address may refer to."""
    return ("https",) if base.scheme == "https" else ("https", "http")


def may_see_credentials(url: URL, base: URL) -> bool:
    """Whether credentials for the registry at `base` may be sent to an address.

    They are for its host and port. `_TOKEN_SERVERS` lists the token hosts of public registries.
    """
    return is_same_origin(url, base) or str(url.origin()) == _TOKEN_SERVERS.get(str(base.origin()))


def is_same_origin(url: URL, other: URL) -> bool:
    """Return whether two addresses have the same scheme, host and port, however the port is written."""
    return (url.scheme, url.host, url.port) == (other.scheme, other.host, other.port)


class GuardedResolver(AbstractResolver):
    """Resolves names, but finds no private addresses for names that the user did not give."""

    def __init__(self) -> None:
        self._resolver = ThreadedResolver()
        self._named: set[str] = set()

    def name(self, host: str) -> None:
        """The user gave this host: it may be anywhere."""
        self._named.add(host)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a host."""
        resolved: list[ResolveResult] = await self._resolver.resolve(host, port, family)
        if host in self._named:
            return resolved
        public = [address for address in resolved if is_public(address["host"])]
        if not public:
            raise OSError(None, f"{host} is inside of a private network")
        return public

    async def close(self) -> None:
        """Nothing is held."""
        await self._resolver.close()
