"""Packages go to a real registry and come back, with TLS and with passwords; skopeo understands them."""

from __future__ import annotations

import asyncio
import io
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from crossply.xpkg import image_push as pushing
from crossply.xpkg import media_types as media
from crossply.xpkg.archive_writer import write_archive
from crossply.xpkg.blob_content import CHUNK, Blob, file_part
from crossply.xpkg.image import Image, encode
from crossply.xpkg.image_pull import manifest, pull_image, pull_package, resolve, tags
from crossply.xpkg.image_push import BlobCutShort, has_blob, push_blob, push_images
from crossply.xpkg.image_reference import parse
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.registry_failures import NotAllowed, RegistryUnreachable
from crossply.xpkg.registry_session import Registries, Trust
from tests.support.images import STREAM, archive, image, member, package
from tests.support.programs import needs, path_of
from tests.support.registry import certificate, docker_registry, guarded, pushed

pytestmark = [
    needs("docker-registry"),
    pytest.mark.xdist_group("registry"),
]
skopeo = needs("skopeo")


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


async def test_a_package_comes_back_as_it_was_pushed(registry: str, tmp_path: Path) -> None:
    reference = await asyncio.to_thread(pushed, registry, package(), "acme/function-x:v1.0.0")

    async def main() -> tuple[bytes, str, list[str]]:
        async with Registries() as registries:
            pulled = await pull_package(registries, reference, str(tmp_path))
            return (
                stream_of(pulled.image),
                await resolve(registries, reference),
                await tags(registries, reference),
            )

    stream, digest, tag_names = await main()
    assert stream == STREAM
    assert digest == encode(package()).manifest.digest
    assert tag_names == ["v1.0.0"]


async def test_a_blob_is_sent_in_pieces_where_it_is_large(
    registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushing, "PIECE", 1 << 16)
    big = image(archive([member("big", os.urandom(300_000))]))
    reference = await asyncio.to_thread(pushed, registry, big, "acme/big:v1")

    async def main() -> Image:
        async with Registries() as registries:
            return (await pull_image(registries, reference, str(tmp_path))).image

    assert (await main()).layers[0].blob.digest == big.layers[0].blob.digest


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
async def test_a_registry_on_this_machine_may_have_any_name_of_it(name: str, tmp_path: Path) -> None:
    host = "[::1]" if name == "[::1]" else "127.0.0.1"
    if host == "[::1]" and not has_ipv6_loopback():
        pytest.skip("this machine has no address ::1")
    with docker_registry(tmp_path, host=host) as address:
        port = address.rpartition(":")[2]
        reference = await asyncio.to_thread(pushed, f"{name}:{port}", package(), "acme/function-x:v1.0.0")

        async def main() -> bytes:
            async with Registries() as registries:
                return stream_of((await pull_package(registries, reference, str(tmp_path))).image)

        assert await main() == STREAM


def has_ipv6_loopback() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


class Counted:
    """A blob that counts the bytes that are read of it."""

    def __init__(self, blob: Blob) -> None:
        self.blob, self.digest, self.size = blob, blob.digest, blob.size
        self.count = 0

    def open(self) -> BinaryIO:
        return io.BufferedReader(CountedFile(self), CHUNK)


class CountedFile(io.RawIOBase):
    def __init__(self, counted: Counted) -> None:
        self._counted, self._file = counted, counted.blob.open()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(position, whence)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._counted.count += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def large_file(directory: Path, size: int) -> Path:
    path = directory / "layer"
    path.write_bytes(b"before" + os.urandom(size))
    return path


async def test_a_blob_that_is_sent_in_pieces_is_read_once(
    registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushing, "PIECE", CHUNK)
    size = 16 * CHUNK
    blob = Counted(file_part(str(large_file(tmp_path, size)), len("before")))

    async def main() -> bool:
        async with Registries() as registries:
            reference = parse(f"{registry}/acme/counted:v1")
            await push_blob(registries, blob, reference)
            return await has_blob(registries, blob.digest, reference)

    assert await main()
    assert blob.count == size


async def test_a_file_that_shrinks_while_it_is_pushed_is_an_error(
    registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushing, "PIECE", CHUNK)
    path = large_file(tmp_path, 4 * CHUNK)
    blob = file_part(str(path))
    os.truncate(path, 2 * CHUNK + 5)

    with pytest.raises(BlobCutShort, match=rf"ends after {2 * CHUNK + 5} of {4 * CHUNK + 6} bytes"):
        async with Registries() as registries:
            await push_blob(registries, blob, parse(f"{registry}/acme/cut:v1"))


async def test_several_platforms_make_one_package(registry: str, tmp_path: Path) -> None:
    reference = parse(f"{registry}/acme/multi:v1")
    arm = package(b"arm: 1\n")
    arm = arm._replace(config={**arm.config, "architecture": "s390x"})

    async def main() -> tuple[str, str, bytes]:
        async with Registries() as registries:
            digest = await push_images(registries, [arm, package()], reference, {"a": "b"})
            index = await manifest(registries, reference)
            pulled = await pull_package(registries, reference, str(tmp_path))
            assert pulled.digest == digest == index.digest, "a package is known by the digest of its index"
            return index.media_type, index.content["annotations"]["a"], stream_of(pulled.image)

    assert await main() == (media.OCI_INDEX, "b", STREAM)


@skopeo
async def test_skopeo_reads_our_pushes_and_we_read_its(registry: str, tmp_path: Path) -> None:
    reference = await asyncio.to_thread(pushed, registry, package(), "acme/peer:v1")
    copied = reference._replace(tag="v2")
    words = [path_of("skopeo"), "copy", "--src-tls-verify=false", "--dest-tls-verify=false", "-f", "v2s2"]
    done = subprocess.run(
        [*words, f"docker://{reference}", f"docker://{copied}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

    async def main() -> tuple[str, bytes]:
        async with Registries() as registries:
            index = await manifest(registries, copied)
            return index.media_type, stream_of((await pull_package(registries, copied, str(tmp_path))).image)

    assert await main() == (media.DOCKER_MANIFEST, STREAM), "an annotation is lost, the file is found"


@skopeo
async def test_we_understand_layers_that_skopeo_compressed_with_zstd(registry: str, tmp_path: Path) -> None:
    reference = parse(f"{registry}/acme/zstd:v1")
    # One that no registry has in another form, which skopeo would take instead.
    stream = STREAM + f"# {os.urandom(8).hex()}\n".encode()
    write_archive(package(stream), str(tmp_path / "package.tar"))
    plain = f"dir:{tmp_path}/plain"
    for words in (
        ["--dest-decompress", f"docker-archive:{tmp_path}/package.tar", plain],
        ["--dest-tls-verify=false", "--dest-compress-format=zstd", "-f=oci", plain, f"docker://{reference}"],
    ):
        done = subprocess.run([path_of("skopeo"), "copy", *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    async def main() -> tuple[str, bytes]:
        async with Registries() as registries:
            pulled = (await pull_package(registries, reference, str(tmp_path))).image
            return pulled.layers[0].media_type, stream_of(pulled)

    assert await main() == (media.OCI_LAYER_ZSTD, stream)


def test_tls_and_passwords(tmp_path: Path) -> None:
    authority = certificate(tmp_path)
    with docker_registry(tmp_path, *guarded(tmp_path, tmp_path, "me:secret")) as address:
        trust = Trust(authority=authority)
        with pytest.raises(RegistryUnreachable, match="certificate is not trusted"):
            pushed(address, package(), "acme/x:v1", None, "me:secret")
        with pytest.raises(NotAllowed, match="UNAUTHORIZED: authentication required"):
            pushed(address, package(), "acme/x:v1", trust)
        with pytest.raises(NotAllowed):
            pushed(address, package(), "acme/x:v1", trust, "me:wrong")
        assert pushed(address, package(), "acme/x:v1", trust, "me:secret")
        assert pushed(address, package(), "acme/x:v2", Trust(insecure=True), "me:secret")


async def test_a_registry_returns_the_pushed_manifest(registry: str) -> None:
    reference = await asyncio.to_thread(pushed, registry, package(), "acme/kept:v1")

    async def main() -> dict[str, object]:
        async with Registries() as registries:
            return (await manifest(registries, reference)).content

    content = await main()
    assert content == json.loads(encode(package()).manifest.data)
