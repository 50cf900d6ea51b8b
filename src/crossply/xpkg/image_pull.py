"""Reading from a registry: what a tag stands for, manifests, blobs, and whole images.

Every byte is checked against a digest while it arrives. Only what a tag stands for has to be taken at the
registry's word; from then on it is known by its digest.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from crossply.values import Object
from crossply.xpkg import media_types as media
from crossply.xpkg.blob_content import CHUNK, Blob, FilePart, digest_of
from crossply.xpkg.disk_space import check_space, explained_disk_errors
from crossply.xpkg.failures import BadArchive, TooLarge, WrongDigest
from crossply.xpkg.image import Image, decode_object
from crossply.xpkg.image_manifests import architecture, check_manifest, choose, from_manifest
from crossply.xpkg.image_reference import Reference, check_digest
from crossply.xpkg.registry_session import Registries, RegistryRequest, read_bounded, scope_of

_AT_ONCE = 3
_MOST_NESTED = 4
MAX_IMAGE = 4 << 30
"""The size of the largest image, all its blobs together, as they are pulled."""
_MAX_PACKAGE = media.MAX_STREAM + media.MAX_CONFIG
"""The same for what is pulled of a package whose own layer is marked."""
MAX_TAGS = 100_000
_MAX_TAGS_PAGE = 8 << 20
_MAX_PAGES = 1000


class ResolvedImage(NamedTuple):
    """A manifest, or an index of manifests, and its digest."""

    digest: str
    media_type: str
    content: Object
    data: bytes = b""
    """The same as it was sent."""


class PulledImage(NamedTuple):
    """An image, and the digest that the reference stood for: that of the index, where there is one."""

    image: Image
    digest: str


async def resolve(registries: Registries, reference: Reference) -> str:
    """The digest that a reference stands for now."""
    if reference.digest:
        return reference.digest
    async with registries.deadline(reference):
        async with registries.ask(_manifest_ask("HEAD", reference)) as response:
            digest = response.headers.get("Docker-Content-Digest", "")
        if digest.startswith("sha256:"):
            return check_digest(digest)
        return (await manifest(registries, reference)).digest


async def manifest(registries: Registries, reference: Reference) -> ResolvedImage:
    """The manifest that a reference stands for; one requested by digest must have it."""
    async with registries.deadline(reference), registries.ask(_manifest_ask("GET", reference)) as response:
        data = await read_bounded(response, media.MAX_MANIFEST, f"the manifest of {reference}")
        media_type = response.content_type
    digest = digest_of(data)
    if reference.digest and digest != reference.digest:
        raise WrongDigest(f"the manifest of {reference} has the digest {digest}")
    content = decode_object(data, f"the manifest of {reference}")
    return ResolvedImage(digest, str(content.get("mediaType") or media_type), content, data)


def _manifest_ask(method: str, reference: Reference) -> RegistryRequest:
    path = f"/v2/{reference.repository}/manifests/{reference.identifier}"
    headers = {"Accept": ", ".join(media.ACCEPTED)}
    return RegistryRequest(method, reference.registry, path, scope_of(reference), headers)


async def tags(registries: Registries, reference: Reference) -> list[str]:
    """All tags of a repository; raises TooLarge where there are more than `MAX_TAGS`."""
    async with registries.deadline(reference):
        return await _tags(registries, reference)


async def _tags(registries: Registries, reference: Reference) -> list[str]:
    names: list[str] = []
    path = f"/v2/{reference.repository}/tags/list"
    for _ in range(_MAX_PAGES):
        ask = RegistryRequest("GET", reference.registry, path, scope_of(reference))
        async with registries.ask(ask) as response:
            data = await read_bounded(response, _MAX_TAGS_PAGE, "the list of tags")
            page = decode_object(data, "the list of tags")
            next_link = response.links.get("next")
        listed = page.get("tags")
        names += [tag for tag in listed if isinstance(tag, str)] if isinstance(listed, list) else []
        if len(names) > MAX_TAGS:
            raise TooLarge(f"{reference.name} has more than {MAX_TAGS} tags")
        if next_link is None:
            break
        path = str(next_link["url"])
    return names


async def pull_image(
    registries: Registries, reference: Reference, directory: str, platform: str = ""
) -> PulledImage:
    """Pull an image; its blobs become files of a directory, named by their digests.

    Of an index, the image for `platform` is pulled, or the one for this machine.
    """
    return await _pull(registries, reference, directory, lambda layers: layers, platform)


async def pull_package(registries: Registries, reference: Reference, directory: str) -> PulledImage:
    """Of an image what a package needs: the layer that is annotated so, or else all of them."""
    return await _pull(registries, reference, directory, _only_package)


def _only_package(layers: list[Object]) -> list[Object]:
    return [layer for layer in layers if _is_package(layer)] or layers


def _is_package(layer: Any) -> bool:
    return (
        isinstance(layer, dict)
        and isinstance(layer.get("annotations"), dict)
        and layer["annotations"].get(media.ANNOTATION) == media.BASE
    )


async def _pull(
    registries: Registries,
    reference: Reference,
    directory: str,
    select: Callable[[list[Object]], list[Object]],
    platform: str = "",
) -> PulledImage:
    async with registries.deadline(reference):
        return await _pull_all(registries, reference, directory, select, platform)


async def _pull_all(
    registries: Registries,
    reference: Reference,
    directory: str,
    select: Callable[[list[Object]], list[Object]],
    platform: str,
) -> PulledImage:
    resolved = await manifest(registries, reference)
    digest = resolved.digest
    for _ in range(_MOST_NESTED):
        if "manifests" not in resolved.content:
            break
        chosen = choose(resolved.content, platform or architecture())
        resolved = await manifest(registries, reference.at(chosen["digest"]))
    else:
        raise BadArchive(f"indexes of {reference} are nested too deeply")
    layers = resolved.content.get("layers") or []
    selected = select(layers if isinstance(layers, list) else [])
    content = {**resolved.content, "layers": selected}
    blobs = {descriptor["digest"]: descriptor for descriptor in check_manifest(content)}
    # Before the first byte: what a manifest claims is all that is ever received.
    total = sum(descriptor["size"] for descriptor in blobs.values())
    most = _MAX_PACKAGE if any(map(_is_package, selected)) else MAX_IMAGE
    if total > most:
        raise TooLarge(f"{total} bytes are to be pulled of {reference}, but {most} are allowed")
    with explained_disk_errors(f"pull {reference}"):
        check_space(directory, total)
    await _download_all(registries, reference, blobs.values(), directory)
    image = from_manifest(content, lambda described: _stored(directory, described))
    return PulledImage(image, digest)


def _stored(directory: str, described: Object) -> Blob:
    path = os.path.join(directory, described["digest"].partition(":")[2])
    return FilePart(path, 0, described["size"], described["digest"])


async def _download_all(
    registries: Registries, reference: Reference, blobs: Iterable[Object], directory: str
) -> None:
    room = asyncio.Semaphore(_AT_ONCE)

    async def download_one(described: Object) -> None:
        async with room:
            await download(registries, reference, described, directory)

    try:
        async with asyncio.TaskGroup() as group:
            for described in blobs:
                group.create_task(download_one(described))
    except BaseExceptionGroup as problems:
        raise problems.exceptions[0] from None


async def download(registries: Registries, reference: Reference, described: Object, directory: str) -> str:
    """Fetch a blob into a file of a directory; it is there as a whole and right, or not at all."""
    digest, size = check_digest(described["digest"]), described["size"]
    path = os.path.join(directory, digest.partition(":")[2])
    if os.path.exists(path):
        return path
    if size > MAX_IMAGE:
        raise TooLarge(f"a layer of {reference} has {size} bytes")
    with explained_disk_errors(f"write a layer of {reference}"):
        await _download(registries, reference, described, path)
    return path


async def _download(registries: Registries, reference: Reference, described: Object, path: str) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=".blob-", dir=os.path.dirname(path))
    try:
        with os.fdopen(descriptor, "wb") as file:
            await _receive(registries, reference, described["digest"], described["size"], file.write)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


async def read_blob(registries: Registries, reference: Reference, described: Object, most: int) -> bytes:
    """A small blob in memory."""
    digest, size = check_digest(described["digest"]), described["size"]
    if size > most:
        raise TooLarge(f"a blob of {reference.name} has {size} bytes")
    data = bytearray()
    async with registries.deadline(reference):
        await _receive(registries, reference, digest, size, data.extend)
    return bytes(data)


async def _receive(
    registries: Registries, reference: Reference, digest: str, size: int, write: Callable[[bytes], object]
) -> None:
    path = f"/v2/{reference.repository}/blobs/{digest}"
    hashed, left = hashlib.sha256(), size
    registries.progress.expect(size)
    async with registries.ask(
        RegistryRequest("GET", reference.registry, path, scope_of(reference))
    ) as response:
        async for chunk in response.content.iter_chunked(CHUNK):
            left -= len(chunk)
            if left < 0:
                raise WrongDigest(f"blob {digest} of {reference.name} is larger than {size} bytes")
            hashed.update(chunk)
            write(chunk)
            registries.progress.moved(len(chunk))
    if left or f"sha256:{hashed.hexdigest()}" != digest:
        raise WrongDigest(f"blob {digest} of {reference.name} is not what its digest promises")
