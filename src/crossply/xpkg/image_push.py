"""Pushes images to a registry: blobs first, then the manifest that names them, then the tag.

In this order an image is never visible with parts missing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from crossply.xpkg.blob_content import CHUNK, Blob
from crossply.xpkg.failures import PackagesError
from crossply.xpkg.image import Image, Manifest, encode, encode_index
from crossply.xpkg.image_reference import Reference
from crossply.xpkg.media_types import OCI_INDEX
from crossply.xpkg.progress import Progress
from crossply.xpkg.registry_failures import NotInRegistry, RegistryError
from crossply.xpkg.registry_session import Registries, RegistryRequest, scope_of

PIECE = 16 << 20
"""Larger blobs are sent in pieces of this size."""
_BYTES = "application/octet-stream"


class BlobCutShort(PackagesError):
    """A file became shorter while it was pushed."""

    code = "CP-926"
    hint = "does something write to the file? build the package again, and push it when that is done"


async def push_image(registries: Registries, image: Image, reference: Reference) -> Manifest:
    """Push an image under a tag, or under its digest where the reference has no tag."""
    encoded = encode(image)
    for blob in {blob.digest: blob for blob in (*_blobs(image), encoded.config)}.values():
        await push_blob(registries, blob, reference)
    await put_manifest(
        registries, reference, encoded.manifest.data, encoded.media_type, encoded.manifest.digest
    )
    return encoded


def _blobs(image: Image) -> list[Blob]:
    return [layer.blob for layer in image.layers]


async def push_images(
    registries: Registries, images: list[Image], reference: Reference, annotations: dict[str, str]
) -> str:
    """Push images for several platforms, and an index of them under the tag."""
    encoded = []
    for image in images:
        by_digest = reference._replace(tag="", digest="")
        encoded.append((image, await push_image(registries, image, by_digest)))
    index = encode_index(encoded, annotations)
    await put_manifest(registries, reference, index.data, OCI_INDEX, index.digest)
    return index.digest


async def put_manifest(
    registries: Registries, reference: Reference, data: bytes, media_type: str, digest: str
) -> None:
    """Store a manifest under the tag, or under its digest where the reference has no tag."""
    path = f"/v2/{reference.repository}/manifests/{reference.tag or digest}"
    headers = {"Content-Type": media_type}
    ask = RegistryRequest("PUT", reference.registry, path, _scope(reference), headers, data)
    async with registries.ask(ask, (200, 201, 202)):
        return


def _scope(reference: Reference) -> str:
    return scope_of(reference, "pull,push")


async def push_blob(registries: Registries, blob: Blob, reference: Reference) -> None:
    """Push a blob, unless the registry has it."""
    if await has_blob(registries, blob.digest, reference):
        return
    registries.progress.expect(blob.size)
    path = f"/v2/{reference.repository}/blobs/uploads/"
    ask = RegistryRequest("POST", reference.registry, path, _scope(reference), {"Content-Length": "0"}, b"")
    async with registries.ask(ask, (202,)) as response:
        place = response.headers.get("Location", "")
    if not place:
        raise RegistryError(f"{reference.registry} does not say where to upload to")
    sent = 0
    while blob.size - sent > PIECE:
        place = await _send_piece(registries, reference, blob, place, sent)
        sent += PIECE
    headers = {"Content-Type": _BYTES, "Content-Length": str(blob.size - sent)}
    query = {"digest": blob.digest}
    data = _bytes(blob, sent, blob.size - sent, registries.progress)
    ask = RegistryRequest("PUT", reference.registry, place, _scope(reference), headers, data, query)
    async with registries.ask(ask, (201, 204)):
        return


async def has_blob(registries: Registries, digest: str, reference: Reference) -> bool:
    """Return whether a repository has a blob."""
    path = f"/v2/{reference.repository}/blobs/{digest}"
    try:
        async with registries.ask(RegistryRequest("HEAD", reference.registry, path, _scope(reference))):
            return True
    except NotInRegistry:
        return False


async def _send_piece(registries: Registries, reference: Reference, blob: Blob, place: str, sent: int) -> str:
    headers = {
        "Content-Type": _BYTES,
        "Content-Length": str(PIECE),
        "Content-Range": f"{sent}-{sent + PIECE - 1}",
    }
    data = _bytes(blob, sent, PIECE, registries.progress)
    ask = RegistryRequest("PATCH", reference.registry, place, _scope(reference), headers, data)
    async with registries.ask(ask, (202, 204)) as response:
        return response.headers.get("Location", "") or place


async def _bytes(blob: Blob, start: int, size: int, progress: Progress) -> AsyncIterator[bytes]:
    """A part of a blob, piece by piece."""
    with blob.open() as file:
        file.seek(start)
        left = size
        while left > 0:
            chunk = file.read(min(CHUNK, left))
            if not chunk:
                end = start + size - left
                raise BlobCutShort(f"the file ends after {end} of {blob.size} bytes of blob {blob.digest}")
            left -= len(chunk)
            yield chunk
            progress.moved(len(chunk))
