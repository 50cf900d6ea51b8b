"""Artifacts of Starlark modules in a registry, as oras pushes them."""

from __future__ import annotations

import asyncio
import io
import tarfile
from typing import Any

import orjson

from crossply.xpkg.blob_content import Blob, digest_of, in_memory
from crossply.xpkg.image_push import push_blob, put_manifest
from crossply.xpkg.image_reference import parse
from crossply.xpkg.media_types import OCI_MANIFEST
from crossply.xpkg.registry_session import Registries

ARTIFACT = "application/vnd.fn-starlark.modules.v1+tar"
ARCHIVE = "application/vnd.fn-starlark.layer.v1.tar"


def archive(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def push_files(registry: str, name: str, files: dict[str, str], kind: str = ARTIFACT) -> str:
    """Push a layer a file; the digest of the artifact."""
    layers = [(text.encode(), "application/octet-stream", title) for title, text in files.items()]
    return _push(registry, name, layers, kind)


def push_archive(registry: str, name: str, files: dict[str, str]) -> str:
    """Push all files in one layer; the digest of the artifact."""
    return _push(registry, name, [(archive(files), ARCHIVE, "")], ARTIFACT)


def _push(registry: str, name: str, layers: list[tuple[bytes, str, str]], kind: str) -> str:
    config = in_memory(b"{}")
    blobs = [in_memory(data) for data, _, _ in layers]
    manifest: dict[str, Any] = {
        "schemaVersion": 2,
        "mediaType": OCI_MANIFEST,
        "artifactType": kind,
        "config": _descriptor(config, "application/vnd.oci.empty.v1+json", ""),
        "layers": [
            _descriptor(blob, media_type, title)
            for blob, (_, media_type, title) in zip(blobs, layers, strict=True)
        ],
    }
    data = orjson.dumps(manifest)
    digest = digest_of(data)
    reference = parse(f"{registry}/{name}")

    async def main() -> None:
        async with Registries(None, None) as registries:
            for blob in (config, *blobs):
                await push_blob(registries, blob, reference)
            await put_manifest(registries, reference, data, OCI_MANIFEST, digest)

    asyncio.run(main())
    return digest


def _descriptor(blob: Blob, media_type: str, title: str) -> dict[str, Any]:
    annotations = {"org.opencontainers.image.title": title} if title else {}
    return {"mediaType": media_type, "digest": blob.digest, "size": blob.size, "annotations": annotations}
