"""Modules from registries, unpacked into a cache by digest.

A tag is resolved once and remembered, as the published function does it: versions do not change. Without a
tag the highest version is used, which is looked up again after a while. A digest in the address pins it.
"""

from __future__ import annotations

import contextlib
import time
from functools import cmp_to_key
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crossply.errors import CrossplyError
from crossply.functions.builtin.kcl.module_cache import MAX_ARCHIVE, ModuleCache
from crossply.functions.builtin.kcl.module_directory import ModuleTree
from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.functions.builtin.kcl.module_source_policy import REGISTRIES, ModuleAccess, RegistryLogin
from crossply.functions.builtin.kcl.registry_address import ModuleAddress, read_address
from crossply.values.keyed_locks import KeyedLocks
from crossply.values.semver import InvalidVersion, compare
from crossply.values.semver import parse as parse_version

if TYPE_CHECKING:
    from crossply.xpkg.keychain import Login
    from crossply.xpkg.registry import Registries

_FRESH_SECONDS = 600.0
_PULL_SECONDS = 50.0
_fetching = KeyedLocks()


def fetch_module(access: ModuleAccess, address: str, version: str = "") -> ModuleTree:
    """The module at an address; raises ModuleError."""
    parsed = read_address(address, version)
    cache = ModuleCache(access.cache, access.login)
    with _fetching.holding((parsed, access.login)):  # so that two calls do not fetch the same module
        directory = _cached(cache, parsed) or _fetched(cache, parsed, access)
    return ModuleTree(directory, None).module(parsed.module)


def _cached(cache: ModuleCache, address: ModuleAddress) -> str | None:
    digest = address.digest
    if not digest:
        remembered = cache.remembered(str(address))
        if remembered is None or (not address.tag and time.time() - remembered.time > _FRESH_SECONDS):
            return None
        digest = remembered.digest
    return cache.get(digest)


def _fetched(cache: ModuleCache, address: ModuleAddress, access: ModuleAccess) -> str:
    try:
        digest = _in_thread(cache, address, access)
    except (CrossplyError, OSError) as error:
        remembered = cache.remembered(str(address))
        directory = cache.get(remembered.digest) if remembered is not None else None
        if directory is not None:
            return directory  # an older version is better than none while the registry cannot be reached
        raise ModuleError(f"cannot fetch {address}: {error}") from None
    if not address.digest:
        cache.remember(str(address), digest)
    directory = cache.get(digest)
    if directory is None:
        raise ModuleError(f"cannot fetch {address}: it was removed from the cache {access.cache}")
    return directory


def _in_thread(cache: ModuleCache, address: ModuleAddress, access: ModuleAccess) -> str:
    """Fetch a module and return its digest. The calling thread may have a running event loop."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as executor:
        return executor.submit(lambda: asyncio.run(_fetch(cache, address, access))).result()


async def _fetch(cache: ModuleCache, address: ModuleAddress, access: ModuleAccess) -> str:
    from urllib.request import getproxies_environment

    from crossply.xpkg.address_guard import host_of, is_public_host
    from crossply.xpkg.registry import Registries, Trust

    if address.registry not in access.registries and not await is_public_host(host_of(address.registry)):
        raise ModuleError(
            f"registry {address.registry} is inside of a private network; modules come from there only where "
            f"{REGISTRIES} lists it"
        )
    plain = frozenset((address.registry,)) if access.allows_plain_http else frozenset[str]()
    trust = Trust(plain_http=plain, proxies=getproxies_environment(), pull_seconds=_PULL_SECONDS)
    async with Registries(_StepLogin(address, access.login), trust) as registries:
        return await _pull(registries, cache, address)


async def _pull(registries: Registries, cache: ModuleCache, address: ModuleAddress) -> str:
    from crossply.xpkg.image_manifests import check_manifest, check_sizes
    from crossply.xpkg.image_pull import manifest, read_blob, tags
    from crossply.xpkg.image_reference import parse

    reference = parse(address.repository)._replace(tag=address.tag, digest=address.digest)
    if not address.tag and not address.digest:
        reference = reference._replace(tag=_highest(await tags(registries, reference), address))
    resolved = await manifest(registries, reference)
    _, *layers = check_manifest(resolved.content)
    check_sizes(layers, MAX_ARCHIVE)
    if cache.get(resolved.digest) is None:
        blobs = [await read_blob(registries, reference, layer, MAX_ARCHIVE) for layer in layers]
        cache.put(resolved.digest, blobs)
    return resolved.digest


def _highest(names: list[str], address: ModuleAddress) -> str:
    """The highest released version, or else the highest one."""
    versions = []
    for name in names:
        with contextlib.suppress(InvalidVersion):
            versions.append(parse_version(name))
    if not versions:
        raise ModuleError(f"cannot fetch {address}: it has no version among its tags; name one with ?tag=")
    released = [version for version in versions if not version.prerelease]
    return max(released or versions, key=cmp_to_key(compare)).original


class _StepLogin:
    """The login of a step, for the registry that it names."""

    def __init__(self, address: ModuleAddress, login: RegistryLogin) -> None:
        host = urlsplit(login.url).netloc or login.url.partition("/")[0]
        self._registry = host or address.registry
        self._login = login

    async def login(self, registry: str) -> Login | None:
        if registry != self._registry or not self._login.password:
            return None
        from crossply.xpkg.keychain import Login

        return Login(self._login.username, self._login.password)
