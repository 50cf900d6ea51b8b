"""Modules from registries, unpacked into a cache by digest.

A tag is resolved once and remembered, as the published function does it: versions do not change. Without a
tag the highest version is used, which is looked up again after a while. A digest in the address pins it.
"""

from __future__ import annotations

import contextlib
from functools import cmp_to_key
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crossply.errors import CrossplyError
from crossply.functions.builtin.kcl.module_directory import ModuleTree
from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.functions.builtin.kcl.module_source_policy import REGISTRIES, ModuleAccess, RegistryLogin
from crossply.functions.builtin.kcl.program_source import SCHEME
from crossply.functions.builtin.kcl.registry_address import ModuleAddress, read_address
from crossply.functions.builtin.module_registry.module_cache import MAX_ARCHIVE, ModuleCache
from crossply.functions.builtin.module_registry.module_fetch import (
    FetchError,
    RegistryAccess,
    modules_directory,
)
from crossply.values.semver import InvalidVersion, compare
from crossply.values.semver import parse as parse_version

if TYPE_CHECKING:
    from crossply.xpkg.image_reference import Reference
    from crossply.xpkg.keychain import Login
    from crossply.xpkg.registry import Registries


def fetch_module(access: ModuleAccess, address: str, version: str = "") -> ModuleTree:
    """The module at an address; raises ModuleError."""
    parsed = read_address(address, version)
    reference = _reference(parsed)
    cache = ModuleCache(access.cache, access.login)
    login = _StepLogin(parsed, access.login)
    allowed = RegistryAccess(access.registries, REGISTRIES, access.allows_plain_http, login)

    async def pull(registries: Registries) -> str:
        return await _pull(registries, cache, reference, parsed)

    try:
        directory = modules_directory(cache, parsed, allowed, pull, is_fixed=bool(parsed.tag))
    except FetchError as error:
        raise ModuleError(f"cannot fetch {parsed}: {error}") from None
    return ModuleTree(directory, None).module(parsed.module)


def _reference(address: ModuleAddress) -> Reference:
    """The image at an address. A digest is a name in the cache, so nothing else may be one."""
    from crossply.xpkg.image_reference import parse

    try:
        return parse(str(address).removeprefix(SCHEME))
    except CrossplyError as error:
        raise ModuleError(f"cannot fetch {address}: {error}") from None


async def _pull(
    registries: Registries, cache: ModuleCache, reference: Reference, address: ModuleAddress
) -> str:
    from crossply.xpkg.image_manifests import check_manifest, check_sizes
    from crossply.xpkg.image_pull import manifest, read_blob, tags

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
