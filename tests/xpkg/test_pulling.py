"""What a registry serves is checked: digests, manifests, sizes, room on the disk."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import orjson
import pytest

from crossply.errors import CrossplyError
from crossply.xpkg import image_pull as pulling
from crossply.xpkg import media_types as media
from crossply.xpkg.disk_space import check_space
from crossply.xpkg.failures import BadArchive, NoDiskSpace, TooLarge, WrongDigest
from crossply.xpkg.image import encode
from crossply.xpkg.image_pull import pull_image, pull_package, resolve, tags
from crossply.xpkg.image_reference import Reference
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.registry_session import Registries
from tests.support.images import STREAM, archive, image, member, package
from tests.support.registry import ScriptedRegistry, play


def test_of_a_package_only_its_own_layer_is_fetched(tmp_path: Path) -> None:
    runtime = image(archive([member("function", b"1")])).layers
    full_image = package()._replace(layers=(*runtime, *package().layers))

    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> bytes:
        registry.serve_image(full_image)
        return stream_of((await pull_package(registries, reference, str(tmp_path))).image)

    stream, registry = play(scene)
    assert stream == STREAM
    assert not any(runtime[0].blob.digest in path for _, path, _ in registry.requests)


def test_a_tag_is_resolved_by_header_or_by_its_manifest() -> None:
    encoded = encode(package())

    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> list[str]:
        registry.serve_image(package())
        by_manifest = await resolve(registries, reference)
        digest = f"sha256:{'a' * 64}"
        registry.serve("/v2/acme/x/manifests/v1", b"", Docker_Content_Digest=digest)
        return [by_manifest, await resolve(registries, reference)]

    assert play(scene)[0] == [encoded.manifest.digest, f"sha256:{'a' * 64}"]


def test_tags_are_listed_over_all_pages() -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> list[str]:
        path = "/v2/acme/x/tags/list"
        more = '</v2/acme/x/tags/more>; rel="next"'
        registry.serve(path, orjson.dumps({"tags": ["v1", "v2"]}), Link=more)
        registry.serve("/v2/acme/x/tags/more", orjson.dumps({"tags": ["v3"]}))
        return await tags(registries, reference)

    assert play(scene)[0] == ["v1", "v2", "v3"]


def _other_manifest(registry: ScriptedRegistry, reference: Reference) -> Reference:
    digest = encode(package()).manifest.digest
    registry.serve(f"/v2/acme/x/manifests/{digest}", encode(package(b"evil")).manifest.data)
    return reference.at(digest)


def _other_blob(registry: ScriptedRegistry, reference: Reference) -> Reference:
    registry.serve_image(package())
    blob = package().layers[0].blob
    registry.serve(f"/v2/acme/x/blobs/{blob.digest}", bytes(blob.size))
    return reference


def _cut_blob(registry: ScriptedRegistry, reference: Reference) -> Reference:
    registry.serve_image(package())
    blob = package().layers[0].blob
    registry.serve(f"/v2/acme/x/blobs/{blob.digest}", blob.open().read()[:-1])
    return reference


def _longer_blob(registry: ScriptedRegistry, reference: Reference) -> Reference:
    registry.serve_image(package())
    blob = package().layers[0].blob
    registry.serve(f"/v2/acme/x/blobs/{blob.digest}", blob.open().read() + bytes(1 << 20))
    return reference


@pytest.mark.parametrize(
    "lie", [_other_manifest, _other_blob, _cut_blob, _longer_blob], ids=lambda lie: lie.__name__
)
def test_bytes_that_their_digest_does_not_promise_are_refused(tmp_path: Path, lie: Any) -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        with pytest.raises(WrongDigest):
            await pull_package(registries, lie(registry, reference), str(tmp_path))

    play(scene)
    stored = [path.name for path in tmp_path.iterdir() if path.name != encode(package()).config.digest[7:]]
    assert stored == [], "nothing wrong is kept, under whatever name"


def _endless(**fields: Any) -> bytes:
    return orjson.dumps({"schemaVersion": 2, "mediaType": media.OCI_INDEX, **fields})


def test_indexes_within_indexes_come_to_an_end(tmp_path: Path) -> None:
    """Each index names another by digest; they cannot be a circle, but a long chain."""

    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        data = encode(package()).manifest.data
        for _ in range(10):
            from crossply.xpkg.blob_content import digest_of

            registry.serve(f"/v2/acme/x/manifests/{digest_of(data)}", data)
            data = _endless(manifests=[{"digest": digest_of(data), "size": len(data)}])
        registry.serve("/v2/acme/x/manifests/v1", data)
        with pytest.raises(BadArchive, match="nested too deeply"):
            await pull_package(registries, reference, str(tmp_path))

    play(scene)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b" " * (5 << 20), TooLarge),
        (b"[]", BadArchive),
        (b"{}", BadArchive),
        (b"no json", BadArchive),
        (_endless(manifests=[]), BadArchive),
        (_endless(config={"digest": "sha256:0", "size": 1}), BadArchive),
        (_endless(config={"digest": f"sha256:{'0' * 64}", "size": -1}), BadArchive),
        (
            _endless(
                config={"digest": f"sha256:{'0' * 64}", "size": 1},
                layers=[{"digest": f"sha256:{'0' * 64}", "size": 1}] * 10_000,
            ),
            BadArchive,
        ),
    ],
    ids=["too large", "a list", "empty", "no JSON", "no image", "no digest", "no size", "10,000 layers"],
)
def test_odd_manifests_are_refused(tmp_path: Path, data: bytes, error: type[CrossplyError]) -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        registry.serve("/v2/acme/x/manifests/v1", data)
        with pytest.raises(error):
            await pull_image(registries, reference, str(tmp_path))

    play(scene)


def test_a_layer_that_claims_too_much_is_not_begun(tmp_path: Path) -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        registry.serve_image(package())
        data = orjson.loads(encode(package()).manifest.data)
        data["layers"][0]["size"] = 1 << 50
        registry.serve("/v2/acme/x/manifests/v1", orjson.dumps(data))
        with pytest.raises(TooLarge):
            await pull_package(registries, reference, str(tmp_path))

    play(scene)


@pytest.mark.parametrize("claimed", [201 << 20, 9 << 20], ids=["one layer", "many layers"])
def test_of_a_package_that_claims_more_than_200_mib_nothing_is_pulled(tmp_path: Path, claimed: int) -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        registry.serve_image(package())
        data = orjson.loads(encode(package()).manifest.data)
        [layer] = data["layers"]
        digests = [f"sha256:{number:064x}" for number in range((220 << 20) // claimed + 1)]
        data["layers"] = [{**layer, "size": claimed, "digest": digest} for digest in digests]
        registry.serve("/v2/acme/x/manifests/v1", orjson.dumps(data))
        with pytest.raises(
            TooLarge, match=r"bytes are to be pulled of .*/acme/x:v1, but 218103808 are allowed"
        ):
            await pull_package(registries, reference, str(tmp_path))

    _, registry = play(scene)
    assert not [path for _, path, _ in registry.requests if "/blobs/" in path]


def test_an_image_of_many_large_layers_is_not_begun(tmp_path: Path) -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        data = orjson.loads(encode(package()).manifest.data)
        layer = {key: value for key, value in data["layers"][0].items() if key != "annotations"}
        digests = [f"sha256:{number:064x}" for number in range(5)]
        data["layers"] = [{**layer, "size": 1 << 30, "digest": digest} for digest in digests]
        registry.serve("/v2/acme/x/manifests/v1", orjson.dumps(data))
        with pytest.raises(TooLarge):
            await pull_image(registries, reference, str(tmp_path))

    _, registry = play(scene)
    assert not [path for _, path, _ in registry.requests if "/blobs/" in path]


def test_a_disk_keeps_some_room_for_others(tmp_path: Path) -> None:
    file_system = os.statvfs(tmp_path)
    free = file_system.f_bavail * file_system.f_frsize
    check_space(str(tmp_path), 0)
    with pytest.raises(NoDiskSpace, match=r"MiB are reserved$"):
        check_space(str(tmp_path), free - 1000)


def test_a_write_that_the_disk_refuses_is_reported(tmp_path: Path) -> None:
    """A limit of the size of files stands for a full disk."""

    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        registry.serve_image(package())
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
        try:
            with pytest.raises(NoDiskSpace, match=r"^cannot write a layer of .*/acme/x:v1: file too large$"):
                await pull_package(registries, reference, str(tmp_path))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    play(scene)
    assert os.listdir(tmp_path) == []


def test_more_tags_than_anybody_needs_are_refused() -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        registry.serve("/v2/acme/x/tags/list", orjson.dumps({"tags": ["v1"] * (pulling.MAX_TAGS + 1)}))
        with pytest.raises(TooLarge, match=r"/acme/x has more than 100000 tags$"):
            await tags(registries, reference)

    play(scene)


def test_a_long_list_of_tags_is_read_to_its_end() -> None:
    many = [f"v1.0.{number}" for number in range(100_000)]

    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> list[str]:
        registry.serve("/v2/acme/x/tags/list", orjson.dumps({"tags": many}))
        return await tags(registries, reference)

    assert play(scene)[0] == many
