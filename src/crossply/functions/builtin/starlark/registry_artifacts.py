"""Artifacts of modules in registries, cached by digest.

An artifact has a file in each layer, named by the layer's title, or all of them in one archive. What a tag
stands for is looked up again after a while; while the registry cannot be reached, the version before is used.
"""

from __future__ import annotations

import io
import os
import tarfile
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from crossply.errors import CrossplyError
from crossply.functions.builtin.module_registry.module_cache import MAX_ARCHIVE, ModuleCache
from crossply.functions.builtin.module_registry.module_fetch import (
    FetchError,
    RegistryAccess,
    modules_directory,
)
from crossply.values.bounded_cache import BoundedCache
from crossply.values.cache_directory import cache_directory
from crossply.values.digest import sha256_hex
from crossply.values.goquote import quote

if TYPE_CHECKING:
    from crossply.xpkg.image_reference import Reference
    from crossply.xpkg.keychain import Keychain
    from crossply.xpkg.registry_session import Registries

CACHE = "CROSSPLY_STARLARK_CACHE"
"""The environment variable with the directory for modules that come from registries."""
REGISTRIES = "CROSSPLY_STARLARK_REGISTRIES"
"""The environment variable with registries in private networks that may be used, separated by commas."""

_ARTIFACT = "application/vnd.fn-starlark.modules.v1+tar"
_ARCHIVE = "application/vnd.fn-starlark.layer.v1.tar"
_TITLE = "org.opencontainers.image.title"
_SUFFIX = ".star"
_MAX_FILE = 1 << 20
_MAX_FILES = 1000
_MAX_LAYERS = 16 << 20
_MAX_MODULES = 16 << 20
"""The most bytes of all modules of an artifact; a program may have less."""

Files = Mapping[str, str]
"""The modules of an artifact by their paths in it."""


_known_files: BoundedCache[str, Files] = BoundedCache(64 << 20)
_reading = threading.Lock()


class ArtifactError(Exception):
    """An artifact cannot be used; the message says why."""


class ArtifactAccess(NamedTuple):
    """Which registries may be used, and how."""

    private: frozenset[str] = frozenset()
    """Those in private networks."""
    plain_http: frozenset[str] = frozenset()
    cache: str = ""
    credential: bytes = b""
    """A Docker configuration with logins."""


def access_of(
    environ: Mapping[str, str], plain_http: tuple[str, ...] = (), credential: bytes = b""
) -> ArtifactAccess:
    """The access that an environment grants a step."""
    private = (name.strip() for name in environ.get(REGISTRIES, "").split(","))
    cache = environ.get(CACHE) or cache_directory(environ, "starlark")
    return ArtifactAccess(frozenset(filter(None, private)), frozenset(plain_http), cache, credential)


def fetch(reference: str, access: ArtifactAccess) -> Files:
    """The modules of an artifact; raises ArtifactError."""
    from crossply.xpkg.image_reference import parse

    try:
        parsed = parse(reference, strict=True)
    except CrossplyError as error:
        raise ArtifactError(f"parsing OCI reference {quote(reference)}: {error}") from None
    cache = ModuleCache(access.cache, (sha256_hex(access.credential),) if access.credential else ())

    async def pull(registries: Registries) -> str:
        return await _pull(registries, cache, parsed)

    try:
        directory = modules_directory(cache, parsed, _registry_access(parsed.registry, access), pull)
    except FetchError as error:
        raise ArtifactError(f"fetching OCI artifact {parsed}: {error}") from None
    return _read(directory)


def _registry_access(registry: str, access: ArtifactAccess) -> RegistryAccess:
    plain_http = registry in access.plain_http
    keychain = None if plain_http else _keychain(access.credential)
    return RegistryAccess(access.private, REGISTRIES, plain_http, keychain)


def _keychain(credential: bytes) -> Keychain | None:
    if not credential:
        return None
    from crossply.xpkg.keychain import from_secret

    return from_secret(credential, "of the step")


async def _pull(registries: Registries, cache: ModuleCache, reference: Reference) -> str:
    from crossply.xpkg.image_manifests import check_manifest, check_sizes
    from crossply.xpkg.image_pull import manifest, read_blob

    resolved = await manifest(registries, reference)
    if cache.get(resolved.digest) is not None:
        return resolved.digest
    content = resolved.content
    described, *layers = check_manifest(content)
    kind = content.get("artifactType") or described.get("mediaType")
    if kind != _ARTIFACT:
        raise ArtifactError(
            f"unexpected artifact type {quote(str(kind))} for {reference}; expected {quote(_ARTIFACT)} for "
            "Starlark module bundles"
        )
    if not layers:
        raise ArtifactError(f"OCI artifact {reference} has no layers")
    if len(layers) > _MAX_FILES:
        raise ArtifactError(f"OCI artifact {reference} exceeds maximum file count ({_MAX_FILES})")
    check_sizes(layers, MAX_ARCHIVE)
    blobs = [(layer, await read_blob(registries, reference, layer, _MAX_LAYERS)) for layer in layers]
    cache.put(resolved.digest, [_archive(str(reference), blobs)])
    return resolved.digest


def _archive(reference: str, blobs: list[tuple[dict[str, Any], bytes]]) -> bytes:
    """The layers of an artifact as one archive of its modules."""
    if len(blobs) == 1 and blobs[0][0].get("mediaType") == _ARCHIVE:
        return blobs[0][1]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for layer, data in blobs:
            title = (layer.get("annotations") or {}).get(_TITLE)
            if not isinstance(title, str) or not title.endswith(_SUFFIX):
                continue
            if ".." in title:
                raise ArtifactError(f"path traversal detected in layer title {quote(title)} from {reference}")
            info = tarfile.TarInfo(os.path.normpath(title))
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _read(directory: str) -> Files:
    """The modules in a directory of the cache, whose name is a digest: it never changes."""
    with _reading:
        files = _known_files.get(directory)
        if files is None:
            files = _read_files(directory)
            _known_files.put(directory, files, sum(map(len, files.values())))
    return files


def _read_files(directory: str) -> Files:
    files: dict[str, str] = {}
    size = 0
    for root, _, names in os.walk(directory):
        for name in names:
            if not name.endswith(_SUFFIX):
                continue
            path = os.path.join(root, name)
            relative = os.path.relpath(path, directory)
            if len(files) >= _MAX_FILES:
                raise ArtifactError(f"OCI artifact exceeds maximum file count ({_MAX_FILES})")
            if os.path.getsize(path) > _MAX_FILE:
                raise ArtifactError(f"file {relative} exceeds maximum size ({_MAX_FILE} bytes)")
            with open(path, encoding="utf-8", errors="replace") as file:
                files[relative] = file.read()
            size += len(files[relative])
            if size > _MAX_MODULES:
                raise ArtifactError(f"OCI artifact exceeds maximum size ({_MAX_MODULES} bytes)")
    return files
