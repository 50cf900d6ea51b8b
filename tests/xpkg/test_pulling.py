"""What a registry serves is checked, and nothing it says makes us tell secrets or go where we should not."""

from __future__ import annotations

import asyncio
import base64
import os
import resource
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from yarl import URL

from crossply.errors import CrossplyError
from crossply.xpkg import image_pull as pulling
from crossply.xpkg import media_types as media
from crossply.xpkg.address_guard import AddressRefused, is_public_host, may_see_credentials
from crossply.xpkg.disk_space import check_space
from crossply.xpkg.failures import BadArchive, NoDiskSpace, TooLarge, WrongDigest
from crossply.xpkg.image import encode
from crossply.xpkg.image_pull import manifest, pull_image, pull_package, resolve, tags
from crossply.xpkg.image_reference import Reference, parse
from crossply.xpkg.keychain import DockerConfig
from crossply.xpkg.package_layers import stream_of
from crossply.xpkg.registry import Registries, Trust
from crossply.xpkg.registry_failures import (
    MalformedAnswer,
    NotAllowed,
    NotInRegistry,
    PullTimedOut,
    RegistryUnreachable,
)
from tests.support.images import STREAM, archive, image, member, package
from tests.support.registry import Lying

Play = Callable[[Lying, Registries, Reference], Awaitable[Any]]
LOGIN = base64.b64encode(b"me:secret").decode()


def play(scene: Play, logins: bool = False) -> tuple[Any, Lying]:
    """Run a scene with a lying registry; its result, and the registry with what it saw."""

    async def main() -> tuple[Any, Lying]:
        async with Lying().running() as registry:
            config: dict[str, Any] = {"auths": {registry.address: {"auth": LOGIN}}} if logins else {}
            async with Registries(DockerConfig(config)) as registries:
                result = await scene(registry, registries, parse(f"{registry.address}/acme/x:v1"))
                return result, registry

    return asyncio.run(main())


def test_of_a_package_only_its_own_layer_is_fetched(tmp_path: Path) -> None:
    runtime = image(archive([member("function", b"1")])).layers
    full_image = package()._replace(layers=(*runtime, *package().layers))

    async def scene(registry: Lying, registries: Registries, reference: Reference) -> bytes:
        registry.serve_image(full_image)
        return stream_of((await pull_package(registries, reference, str(tmp_path))).image)

    stream, registry = play(scene)
    assert stream == STREAM
    assert not any(runtime[0].blob.digest in path for _, path, _ in registry.seen)


def test_a_tag_is_resolved_by_header_or_by_its_manifest() -> None:
    encoded = encode(package())

    async def scene(registry: Lying, registries: Registries, reference: Reference) -> list[str]:
        registry.serve_image(package())
        by_manifest = await resolve(registries, reference)
        digest = f"sha256:{'a' * 64}"
        registry.serve("/v2/acme/x/manifests/v1", b"", Docker_Content_Digest=digest)
        return [by_manifest, await resolve(registries, reference)]

    assert play(scene)[0] == [encoded.manifest.digest, f"sha256:{'a' * 64}"]


def test_tags_are_listed_over_all_pages() -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> list[str]:
        path = "/v2/acme/x/tags/list"
        more = '</v2/acme/x/tags/more>; rel="next"'
        registry.serve(path, orjson.dumps({"tags": ["v1", "v2"]}), Link=more)
        registry.serve("/v2/acme/x/tags/more", orjson.dumps({"tags": ["v3"]}))
        return await tags(registries, reference)

    assert play(scene)[0] == ["v1", "v2", "v3"]


def _other_manifest(registry: Lying, reference: Reference) -> Reference:
    digest = encode(package()).manifest.digest
    registry.serve(f"/v2/acme/x/manifests/{digest}", encode(package(b"evil")).manifest.data)
    return reference.at(digest)


def _other_blob(registry: Lying, reference: Reference) -> Reference:
    registry.serve_image(package())
    blob = package().layers[0].blob
    registry.serve(f"/v2/acme/x/blobs/{blob.digest}", bytes(blob.size))
    return reference


def _cut_blob(registry: Lying, reference: Reference) -> Reference:
    registry.serve_image(package())
    blob = package().layers[0].blob
    registry.serve(f"/v2/acme/x/blobs/{blob.digest}", blob.open().read()[:-1])
    return reference


def _longer_blob(registry: Lying, reference: Reference) -> Reference:
    registry.serve_image(package())
    blob = package().layers[0].blob
    registry.serve(f"/v2/acme/x/blobs/{blob.digest}", blob.open().read() + bytes(1 << 20))
    return reference


@pytest.mark.parametrize(
    "lie", [_other_manifest, _other_blob, _cut_blob, _longer_blob], ids=lambda lie: lie.__name__
)
def test_bytes_that_their_digest_does_not_promise_are_refused(tmp_path: Path, lie: Any) -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        with pytest.raises(WrongDigest):
            await pull_package(registries, lie(registry, reference), str(tmp_path))

    play(scene)
    stored = [path.name for path in tmp_path.iterdir() if path.name != encode(package()).config.digest[7:]]
    assert stored == [], "nothing wrong is kept, under whatever name"


def _endless(**fields: Any) -> bytes:
    return orjson.dumps({"schemaVersion": 2, "mediaType": media.OCI_INDEX, **fields})


def test_indexes_within_indexes_come_to_an_end(tmp_path: Path) -> None:
    """Each index names another by digest; they cannot be a circle, but a long chain."""

    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        data = encode(package()).manifest.data
        for _ in range(10):
            from crossply.xpkg.blobs import digest_of

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
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        registry.serve("/v2/acme/x/manifests/v1", data)
        with pytest.raises(error):
            await pull_image(registries, reference, str(tmp_path))

    play(scene)


def test_a_layer_that_claims_too_much_is_not_begun(tmp_path: Path) -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        registry.serve_image(package())
        data = orjson.loads(encode(package()).manifest.data)
        data["layers"][0]["size"] = 1 << 50
        registry.serve("/v2/acme/x/manifests/v1", orjson.dumps(data))
        with pytest.raises(TooLarge):
            await pull_package(registries, reference, str(tmp_path))

    play(scene)


@pytest.mark.parametrize("claimed", [201 << 20, 9 << 20], ids=["one layer", "many layers"])
def test_of_a_package_that_claims_more_than_200_mib_nothing_is_pulled(tmp_path: Path, claimed: int) -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
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
    assert not [path for _, path, _ in registry.seen if "/blobs/" in path]


def test_an_image_of_many_large_layers_is_not_begun(tmp_path: Path) -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        data = orjson.loads(encode(package()).manifest.data)
        layer = {key: value for key, value in data["layers"][0].items() if key != "annotations"}
        digests = [f"sha256:{number:064x}" for number in range(5)]
        data["layers"] = [{**layer, "size": 1 << 30, "digest": digest} for digest in digests]
        registry.serve("/v2/acme/x/manifests/v1", orjson.dumps(data))
        with pytest.raises(TooLarge):
            await pull_image(registries, reference, str(tmp_path))

    _, registry = play(scene)
    assert not [path for _, path, _ in registry.seen if "/blobs/" in path]


def test_a_disk_keeps_some_room_for_others(tmp_path: Path) -> None:
    file_system = os.statvfs(tmp_path)
    free = file_system.f_bavail * file_system.f_frsize
    check_space(str(tmp_path), 0)
    with pytest.raises(NoDiskSpace, match=r"MiB are reserved$"):
        check_space(str(tmp_path), free - 1000)


def test_a_write_that_the_disk_refuses_is_told(tmp_path: Path) -> None:
    """A limit of the size of files stands for a full disk."""

    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
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
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        registry.serve("/v2/acme/x/tags/list", orjson.dumps({"tags": ["v1"] * (pulling.MAX_TAGS + 1)}))
        with pytest.raises(TooLarge, match=r"/acme/x has more than 100000 tags$"):
            await tags(registries, reference)

    play(scene)


def test_a_long_list_of_tags_is_read_to_its_end() -> None:
    many = [f"v1.0.{number}" for number in range(100_000)]

    async def scene(registry: Lying, registries: Registries, reference: Reference) -> list[str]:
        registry.serve("/v2/acme/x/tags/list", orjson.dumps({"tags": many}))
        return await tags(registries, reference)

    assert play(scene)[0] == many


REDIRECTS = {
    "cloud metadata": "http://169.254.169.254/latest/meta-data/",
    "a file": "file:///etc/passwd",
    "a private network": "http://10.1.2.3/x",
    "an address of this machine, otherwise written": "http://[::ffff:127.0.0.1]:1/x",
    "another address of this machine": "http://127.0.0.2:1/x",
    "cloud metadata behind a gateway": "http://[64:ff9b::a9fe:a9fe]/x",
    "a private network in an address of version 6": "http://[2002:0a01:0203::1]/x",
}


@pytest.mark.parametrize("target", REDIRECTS.values(), ids=REDIRECTS.keys())
def test_redirects_into_private_places_are_not_followed(target: str) -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        registry.serve("/v2/acme/x/manifests/v1", status=307, Location=target)
        with pytest.raises(AddressRefused):
            await manifest(registries, reference)

    play(scene)


def test_a_name_that_leads_into_a_private_network_is_not_followed() -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        port = registry.address.rpartition(":")[2]
        registry.serve("/v2/acme/x/manifests/v1", status=307, Location=f"http://ip6-localhost:{port}/x")
        with pytest.raises((AddressRefused, RegistryUnreachable)):
            await manifest(registries, reference)

    _, registry = play(scene)
    assert [path for _, path, _ in registry.seen if path == "/x"] == []


def test_redirects_end() -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        registry.serve("/v2/acme/x/manifests/v1", status=302, Location="/v2/acme/x/manifests/v1")
        with pytest.raises(RegistryUnreachable, match="redirects more than"):
            await manifest(registries, reference)

    play(scene)


def _wants(scheme: str, then: bytes) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization"):
            return web.Response(body=then)
        return web.Response(status=401, headers={"WWW-Authenticate": scheme})

    return answer


def test_a_registry_is_shown_the_password_it_asks_for() -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        registry.handlers["/v2/acme/x/manifests/v1"] = _wants('Basic realm="x"', b"{}")
        await manifest(registries, reference)

    _, registry = play(scene, logins=True)
    assert [shown for method, _, shown in registry.seen if method == "GET"] == ["", f"Basic {LOGIN}"]


def test_a_token_is_fetched_where_the_registry_says_so() -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        realm = f'Bearer realm="http://{registry.address}/token",service="s",scope="repository:acme/x:pull"'
        registry.handlers["/v2/acme/x/manifests/v1"] = _wants(realm, b"{}")
        registry.serve("/token", b'{"token": "abc"}')
        await manifest(registries, reference)
        await manifest(registries, reference)

    _, registry = play(scene, logins=True)
    shown = [(path, header) for method, path, header in registry.seen if method == "GET"]
    manifest_path = "/v2/acme/x/manifests/v1"
    assert shown == [
        (manifest_path, ""),
        ("/token", f"Basic {LOGIN}"),
        (manifest_path, "Bearer abc"),
        (manifest_path, "Bearer abc"),
    ]


@pytest.mark.parametrize(
    "realm",
    ["http://169.254.169.254/token", "file:///etc/passwd", "gopher://x/", "", "http://127.0.0.2:1/token"],
)
def test_tokens_are_not_fetched_from_private_places(realm: str) -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        registry.handlers["/v2/acme/x/manifests/v1"] = _wants(f'Bearer realm="{realm}"', b"{}")
        with pytest.raises(AddressRefused):
            await manifest(registries, reference)

    play(scene, logins=True)


async def test_credentials_stay_with_the_registry_when_it_redirects() -> None:
    async def main() -> list[str]:
        async with Lying().running() as registry, Lying().running() as other:
            config = {"auths": {registry.address: {"auth": LOGIN}}}
            async with Registries(DockerConfig(config)) as registries:
                registry.handlers["/v2/acme/x/manifests/v1"] = _wants('Basic realm="x"', b"")

                async def away(request: web.Request) -> web.StreamResponse:
                    if not request.headers.get("Authorization"):
                        return web.Response(status=401, headers={"WWW-Authenticate": "Basic"})
                    return web.Response(status=307, headers={"Location": f"http://{other.address}/stored"})

                registry.handlers["/v2/acme/x/manifests/v1"] = away
                other.serve("/stored", b"{}")
                await manifest(registries, parse(f"{registry.address}/acme/x:v1"))
            return [shown for _, _, shown in other.seen]

    assert await main() == [""]


@pytest.mark.parametrize(
    ("realm", "registry", "shown"),
    [
        ("https://ghcr.io/token", "https://ghcr.io", True),
        ("https://ghcr.io:443/token", "https://ghcr.io", True),
        ("https://registry.example:5000/token", "https://registry.example:5000", True),
        ("https://auth.docker.io/token", "https://index.docker.io", True),
        ("https://gitlab.com/jwt/auth", "https://registry.gitlab.com", True),
        ("https://registry.example/token", "https://registry.example:5000", False),
        ("https://registry.example:5001/token", "https://registry.example:5000", False),
        ("http://localhost:5000/token", "https://localhost:5000", False),
        ("https://auth.docker.io:8443/token", "https://index.docker.io", False),
        ("https://auth.example.org/token", "https://registry.example.org", False),
        ("https://evil.example/token", "https://ghcr.io", False),
        ("https://docker.io.evil.example/token", "https://index.docker.io", False),
        ("https://10.0.0.2/token", "https://10.0.0.1", False),
    ],
)
def test_passwords_are_shown_only_to_the_host_and_port_that_they_are_for(
    realm: str, registry: str, shown: bool
) -> None:
    assert may_see_credentials(URL(realm), URL(registry)) is shown


async def _pull_with_token_server(*logins_for: str) -> tuple[list[str], NotAllowed | None, str]:
    """What a token server at another port is shown, the refusal, and the server's address.

    It gives a token to everybody; the registry accepts only the one for those who log in.
    """
    async with Lying().running() as registry, Lying().running() as server:
        places = {"registry": registry.address, "server": server.address}
        config = {"auths": {places[name]: {"auth": LOGIN} for name in logins_for}}

        async def give(request: web.Request) -> web.StreamResponse:
            token = "good" if request.headers.get("Authorization") == f"Basic {LOGIN}" else "none"
            return web.json_response({"token": token})

        async def serve(request: web.Request) -> web.StreamResponse:
            if request.headers.get("Authorization") == "Bearer good":
                return web.Response(body=b"{}")
            challenge = f'Bearer realm="http://{server.address}/token"'
            return web.Response(status=401, headers={"WWW-Authenticate": challenge})

        server.handlers["/token"] = give
        registry.handlers["/v2/acme/x/manifests/v1"] = serve
        refused = None
        async with Registries(DockerConfig(config)) as registries:
            try:
                await manifest(registries, parse(f"{registry.address}/acme/x:v1"))
            except NotAllowed as problem:
                refused = problem
        return [shown for _, path, shown in server.seen if path == "/token"], refused, server.address


async def test_a_password_is_not_shown_to_a_token_server_on_another_port() -> None:
    shown, refused, server = await _pull_with_token_server("registry")
    assert shown == [""]
    assert refused is not None
    assert f"add an entry for {server}" in refused.hint


async def test_a_token_server_on_another_port_is_shown_the_login_that_was_given_for_it() -> None:
    shown, refused, _ = await _pull_with_token_server("registry", "server")
    assert shown == [f"Basic {LOGIN}"]
    assert refused is None


def test_refusals_keep_the_registrys_sentence() -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> list[str]:
        body = orjson.dumps({"errors": [{"code": "DENIED", "message": "not for you"}]})
        registry.serve("/v2/acme/x/manifests/v1", body, status=403)
        with pytest.raises(NotAllowed, match="DENIED: not for you") as denied:
            await manifest(registries, reference)
        registry.serve("/v2/acme/x/manifests/v1", b"<html>", status=404)
        with pytest.raises(NotInRegistry, match="unexpected status code 404 Not Found"):
            await manifest(registries, reference)
        return [denied.value.hint]

    assert "log in" in play(scene)[0][0]


def test_a_refusal_is_one_line_without_control_characters() -> None:
    async def scene(registry: Lying, registries: Registries, reference: Reference) -> str:
        wicked = "\x1b[2Jhello\nlevel=error" + "A" * 5000
        body = orjson.dumps({"errors": [{"code": "DENIED", "message": wicked}]})
        registry.serve("/v2/acme/x/manifests/v1", body, status=403)
        with pytest.raises(NotAllowed) as denied:
            await manifest(registries, reference)
        return str(denied.value)

    message = play(scene)[0]
    assert message.isprintable()
    assert len(message) < 400


@pytest.mark.parametrize(
    ("host", "public"),
    [
        ("127.1", False),
        ("localhost", False),
        ("x.localhost", False),
        ("10.1.2.3", False),
        ("::1", False),
        ("8.8.8.8", True),
        ("no-such-name.invalid", True),
    ],
)
async def test_a_host_is_public_by_all_its_addresses(host: str, public: bool) -> None:
    assert await is_public_host(host) is public


def test_a_registry_that_is_busy_for_a_moment_is_asked_again() -> None:
    answers = iter([503, 503, 200])

    async def scene(registry: Lying, registries: Registries, reference: Reference) -> None:
        async def busy(_: web.Request) -> web.StreamResponse:
            return web.Response(status=next(answers), body=b"{}")

        registry.handlers["/v2/acme/x/manifests/v1"] = busy
        await manifest(registries, reference)

    play(scene)
    assert next(answers, None) is None


TYPED = b"Content-Type: application/vnd.oci.image.manifest.v1+json\r\n"
MALFORMED = {
    "no HTTP at all": b"\x00\x01garbage\r\n\r\n",
    "a status that is no number": b"HTTP/1.1 abc OK\r\n\r\n",
    "a header without a colon": b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
    "a length that is no number": b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n",
    "a header without an end": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
    "chunks without a size": b"HTTP/1.1 200 OK\r\n"
    + TYPED
    + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
    "a redirect to nowhere": b"HTTP/1.1 307 X\r\nLocation: http://[::1/x\r\nContent-Length: 0\r\n\r\n",
    "a port that is none": b"HTTP/1.1 307 X\r\nLocation: http://a:99999999/\r\nContent-Length: 0\r\n\r\n",
    "a realm that is no address": b'HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer realm="http://[::1"\r\n'
    b"Content-Length: 0\r\n\r\n",
}


def answered_with(data: bytes, scene: Callable[[Registries, Reference], Awaitable[Any]]) -> Any:
    """Run a scene with what answers every request with these bytes, and then hangs up."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request_bytes = await reader.read(1 << 16)
        if not request_bytes.startswith(b"\x16"):  # nobody asks for TLS but to find out whether it is spoken
            writer.write(data)
            await writer.drain()
        writer.close()

    async def main() -> Any:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, Registries() as registries:
            return await scene(registries, parse(f"127.0.0.1:{port}/acme/x:v1"))

    return asyncio.run(main())


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_malformed_answers_are_told(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(MalformedAnswer, match=r"^127.0.0.1:\d+ (answers with malformed HTTP: |refers to ')"):
        answered_with(data, lambda registries, reference: pull_image(registries, reference, str(tmp_path)))


def test_an_answer_that_ends_too_early_is_told() -> None:
    cut = b"HTTP/1.1 200 OK\r\n" + TYPED + b"Content-Length: 300\r\n\r\n{}"
    with pytest.raises(RegistryUnreachable, match="broke off in the middle of an answer"):
        answered_with(cut, manifest)


def _pull(registries: Registries, reference: Reference) -> Awaitable[object]:
    return pull_image(registries, reference, "/nowhere")


@pytest.mark.parametrize("operation", [_pull, manifest, resolve, tags])
async def test_what_trickles_from_a_registry_is_given_up_at_the_deadline(
    operation: Callable[[Registries, Reference], Awaitable[object]],
) -> None:
    async def trickle(request: web.Request) -> web.StreamResponse:
        if request.method == "HEAD":
            return web.Response()
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.05)

    async with Lying().running() as registry, Registries(trust=Trust(pull_seconds=0.2)) as registries:
        for path in ("manifests/v1", "tags/list"):
            registry.handlers[f"/v2/acme/x/{path}"] = trickle
        with pytest.raises(
            PullTimedOut, match=r"was not pulled within 0\.2 s, the deadline for images"
        ) as failure:
            await operation(registries, parse(f"{registry.address}/acme/x:v1"))
    assert "--image-pull-timeout" in failure.value.hint


async def test_plain_http_is_not_spoken_to_registries_elsewhere() -> None:
    async with Registries() as registries:
        with pytest.raises(RegistryUnreachable):
            await manifest(registries, parse("registry.invalid/acme/x:v1"))
        assert registries._bases["registry.invalid"].scheme == "https"


async def test_a_proxy_is_used_for_what_is_not_on_this_machine() -> None:
    async def main() -> tuple[list[tuple[str, str, str]], list[str]]:
        async with Lying().running() as proxy, Lying().running() as registry:
            registry.serve("/v2/acme/x/manifests/v1", b"{}")
            proxies = {"http": f"http://{proxy.address}"}
            trust = Trust(plain_http=frozenset(["registry.test"]), proxies=proxies)
            proxy.serve("/v2/acme/x/manifests/v1", b"{}")
            async with Registries(trust=trust) as registries:
                await manifest(registries, parse("registry.test/acme/x:v1"))
                await manifest(registries, parse(f"{registry.address}/acme/x:v1"))
            return proxy.seen, [path for method, path, _ in registry.seen if method == "GET"]

    through, direct = await main()
    assert [path for _, path, _ in through] == ["/v2/acme/x/manifests/v1"]
    assert direct == ["/v2/acme/x/manifests/v1"]
