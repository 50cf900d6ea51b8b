"""Modules from registries, unpacked into a cache by digest.

Addresses are `oci://registry/repository?tag=1.0.0`, or end with `:1.0.0`, or with `@sha256:…`.
A tag is resolved once and remembered, as the published function does it: versions do not change. Without a
tag the highest version is used, which is looked up again after a while. A digest in the address pins it.
"""

from __future__ import annotations

import contextlib
from functools import cmp_to_key
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, urlsplit

from crossply.errors import CrossplyError
from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.functions.builtin.kcl.module_file_reader import ModuleTree
from crossply.functions.builtin.kcl.module_source_policy import REGISTRIES, ModuleAccess, RegistryLogin
from crossply.functions.builtin.kcl.source_types import SCHEME
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
    from crossply.xpkg.registry_session import Registries


class ModuleAddress(NamedTuple):
    """A module in a registry."""

    repository: str
    """Registry and repository."""
    tag: str = ""
    """Empty for the highest version."""
    digest: str = ""
    module: str = ""
    """The name of the module in a repository of several."""

    @property
    def registry(self) -> str:
        return self.repository.partition("/")[0]

    def __str__(self) -> str:
        version = f"@{self.digest}" if self.digest else f":{self.tag}" if self.tag else ""
        return f"{SCHEME}{self.repository}{version}"


def _read_address(text: str, version: str = "") -> ModuleAddress:
    """Read an address; a version in the text wins. Raises ModuleError."""
    split = urlsplit(text.strip())
    repository = f"{split.netloc}{split.path}".rstrip("/")
    query = parse_qs(split.query)
    if split.scheme != "oci" or not split.netloc or not split.path.strip("/") or split.username:
        raise ModuleError(f"{text} is no address of a module: expected oci://REGISTRY/REPOSITORY?tag=VERSION")
    repository, _, digest = repository.partition("@")
    base, colon, tag = repository.rpartition(":")
    if colon and "/" not in tag:
        repository = base
    else:
        tag = ""
    module, _, module_version = query.get("mod", [""])[0].partition(":")
    return ModuleAddress(
        repository, query.get("tag", [""])[0] or tag or version or module_version, digest, module
    )


def fetch_module(access: ModuleAccess, address: str, version: str = "") -> ModuleTree:
    """The module at an address; raises ModuleError."""
    parsed = _read_address(address, version)
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
