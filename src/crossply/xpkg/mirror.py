"""Copying a package and all that it depends on: to another registry, or to an OCI layout in a directory.

Copies are made byte for byte, so that digests stay the same. The signatures beside an image go with it.
skopeo and others read an OCI layout.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from typing import Any, NamedTuple, Protocol

import orjson

from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.xpkg.blob_content import FilePart
from crossply.xpkg.dependencies import Dependency, DependencyError, best_version, dependencies_of
from crossply.xpkg.failures import BadArchive
from crossply.xpkg.image_manifests import check_manifest, is_descriptor
from crossply.xpkg.image_pull import ResolvedImage, download, manifest, pull_package, tags
from crossply.xpkg.image_push import has_blob, push_blob, put_manifest
from crossply.xpkg.image_reference import Reference, parse, parse_tag
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.package_yaml import read
from crossply.xpkg.registry_failures import NotInRegistry
from crossply.xpkg.registry_session import Registries

_MOST_PACKAGES = 10_000
_MOST_MANIFESTS = 1_000
_REFERENCE_NAME = "org.opencontainers.image.ref.name"


class Sink(Protocol):
    """Where copies go."""

    async def has(self, reference: Reference, digest: str) -> bool:
        """Return whether a blob is there already."""
        ...

    async def put_blob(self, reference: Reference, path: str, described: Object) -> None:
        """Store a blob that is in a file."""
        ...

    async def put_manifest(self, reference: Reference, image: ResolvedImage) -> None:
        """Store a manifest, under the tag where the reference has one."""
        ...


class RegistrySink:
    """A registry, below some name: for `registry.test/mirror` team/x becomes registry.test/mirror/team/x."""

    def __init__(self, registries: Registries, prefix: str) -> None:
        base = parse_tag(f"{prefix}/any:v1", strict=True)
        self._registries = registries
        self._registry, self._prefix = base.registry, base.repository.removesuffix("any")

    def _at(self, reference: Reference) -> Reference:
        repository = self._prefix + reference.repository
        return reference._replace(registry=self._registry, repository=repository)

    async def has(self, reference: Reference, digest: str) -> bool:
        """Return whether a blob is there already."""
        return await has_blob(self._registries, digest, self._at(reference))

    async def put_blob(self, reference: Reference, path: str, described: Object) -> None:
        """Store a blob that is in a file."""
        part = FilePart(path, 0, described["size"], described["digest"])
        await push_blob(self._registries, part, self._at(reference))

    async def put_manifest(self, reference: Reference, image: ResolvedImage) -> None:
        """Store a manifest, under the tag where the reference has one."""
        target = self._at(reference)
        await put_manifest(self._registries, target, image.data, image.media_type, image.digest)


class LayoutSink:
    """An OCI layout in a directory, which may hold images already."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._blobs = os.path.join(directory, "blobs", "sha256")
        os.makedirs(self._blobs, exist_ok=True)
        self._write("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')

    def _blob(self, digest: str) -> str:
        return os.path.join(self._blobs, digest.partition(":")[2])

    async def has(self, reference: Reference, digest: str) -> bool:
        """Return whether a blob is there already."""
        return os.path.exists(self._blob(digest))

    async def put_blob(self, reference: Reference, path: str, described: Object) -> None:
        """Store a blob that is in a file."""
        target = self._blob(described["digest"])
        shutil.copyfile(path, f"{target}.part")
        os.replace(f"{target}.part", target)

    async def put_manifest(self, reference: Reference, image: ResolvedImage) -> None:
        """Store a manifest; one with a tag is listed under its whole name."""
        self._write(os.path.join("blobs", "sha256", image.digest.partition(":")[2]), image.data)
        if not reference.tag:
            return
        described = {
            "mediaType": image.media_type,
            "digest": image.digest,
            "size": len(image.data),
            "annotations": {_REFERENCE_NAME: str(reference)},
        }
        others = [
            entry
            for entry in self._listed()
            if entry.get("annotations", {}).get(_REFERENCE_NAME) != str(reference)
        ]
        index = {"schemaVersion": 2, "manifests": [*others, described]}
        self._write("index.json", orjson.dumps(index))

    def _listed(self) -> list[Any]:
        try:
            with open(os.path.join(self._directory, "index.json"), "rb") as file:
                return list(orjson.loads(file.read()).get("manifests") or ())
        except FileNotFoundError:
            return []

    def _write(self, name: str, data: bytes) -> None:
        path = os.path.join(self._directory, name)
        with open(f"{path}.part", "wb") as file:
            file.write(data)
        os.replace(f"{path}.part", path)


class MirrorItem(NamedTuple):
    """A package to copy, and what depends on it."""

    reference: Reference
    by: str = ""


async def closure(registries: Registries, root: Reference, directory: str) -> list[MirrorItem]:
    """A package and all that it depends on, in the versions that its dependencies accept."""
    items: dict[str, MirrorItem] = {}
    waiting = deque([MirrorItem(root)])
    while waiting:
        item = waiting.popleft()
        if str(item.reference) in items:
            continue
        items[str(item.reference)] = item
        if len(items) > _MOST_PACKAGES:
            raise DependencyError(f"{root} depends on more than {_MOST_PACKAGES} packages")
        for dependency in await _dependencies(registries, item.reference, directory):
            chosen = await _chosen(registries, dependency, item.reference)
            waiting.append(MirrorItem(chosen, str(item.reference)))
    return list(items.values())


async def _dependencies(
    registries: Registries, reference: Reference, directory: str
) -> tuple[Dependency, ...]:
    pulled = await pull_package(registries, reference, directory)
    try:
        package = read(stream_of(pulled.image))
    except CrossplyError as problem:
        raise problem.within(f"{reference} is not a package") from None
    return dependencies_of(package.meta) if package.metas else ()


async def _chosen(registries: Registries, dependency: Dependency, by: Reference) -> Reference:
    source = parse(dependency.source)
    if dependency.digest:
        return source._replace(tag="", digest=dependency.digest)
    offered = await tags(registries, source)
    best = best_version([dependency], offered)
    if best is None:
        raise DependencyError(
            f"no version of {dependency.source} is {dependency.constraint}, as {by} wants it",
            hint=f"there are: {', '.join(offered[:20]) or 'none'}",
        )
    return source._replace(tag=best)


async def copy(registries: Registries, reference: Reference, sink: Sink, directory: str) -> str:
    """Copy an image for all its platforms, and its signatures; its digest."""
    resolved = await manifest(registries, reference)
    await _Copy(registries, sink, directory).whole(reference, resolved)
    beside = reference._replace(tag=f"{resolved.digest.replace(':', '-')}.sig", digest="")
    try:
        signature = await manifest(registries, beside)
    except NotInRegistry:
        return resolved.digest
    await _Copy(registries, sink, directory).whole(beside, signature)
    return resolved.digest


class _Copy:
    """One image on its way."""

    def __init__(self, registries: Registries, sink: Sink, directory: str) -> None:
        self._registries, self._sink, self._directory = registries, sink, directory
        self._left = _MOST_MANIFESTS

    async def whole(self, reference: Reference, top: ResolvedImage) -> None:
        """Copy what a manifest refers to before the manifest itself, so that no partial image is visible."""
        below: list[ResolvedImage] = []
        waiting = [top]
        while waiting:
            image = waiting.pop()
            below.append(image)
            self._left -= 1
            if self._left < 0:
                raise BadArchive(f"{reference} has more than {_MOST_MANIFESTS} manifests")
            waiting += [
                await manifest(self._registries, reference.at(described["digest"]))
                for described in _listed(image)
            ]
        for image in reversed(below):
            if "manifests" not in image.content:
                await self._blobs(reference, image)
            target = reference._replace(digest="") if image is top else reference._replace(tag="", digest="")
            await self._sink.put_manifest(target, image)

    async def _blobs(self, reference: Reference, image: ResolvedImage) -> None:
        for described in check_manifest(image.content):
            if await self._sink.has(reference, described["digest"]):
                continue
            path = await download(self._registries, reference, described, self._directory)
            await self._sink.put_blob(reference, path, described)
            os.unlink(path)


def _listed(image: ResolvedImage) -> list[Object]:
    """The manifests that an index names."""
    listed = image.content.get("manifests")
    if listed is None:
        return []
    if not isinstance(listed, list) or not all(map(is_descriptor, listed)):
        raise BadArchive("an index does not describe its manifests")
    return listed
