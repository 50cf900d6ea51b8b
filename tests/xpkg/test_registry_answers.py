"""Refusals, malformed responses and slow ones: each ends in an error with its reason."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from crossply.xpkg.address_guard import is_public_host
from crossply.xpkg.image_pull import manifest, pull_image, resolve, tags
from crossply.xpkg.image_reference import Reference, parse
from crossply.xpkg.registry_failures import (
    MalformedAnswer,
    NotAllowed,
    NotInRegistry,
    PullTimedOut,
    RegistryUnreachable,
)
from crossply.xpkg.registry_session import Registries, Trust
from tests.support.registry import ScriptedRegistry, play


def test_refusals_keep_the_registrys_sentence() -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> list[str]:
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
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> str:
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


def test_a_briefly_busy_registry_is_retried() -> None:
    answers = iter([503, 503, 200])

    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
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
        if not request_bytes.startswith(b"\x16"):  # TLS is only tried to find out whether it is spoken
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
def test_malformed_responses_are_reported(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(MalformedAnswer, match=r"^127.0.0.1:\d+ (answers with malformed HTTP: |refers to ')"):
        answered_with(data, lambda registries, reference: pull_image(registries, reference, str(tmp_path)))


def test_a_truncated_response_is_reported() -> None:
    cut = b"HTTP/1.1 200 OK\r\n" + TYPED + b"Content-Length: 300\r\n\r\n{}"
    with pytest.raises(RegistryUnreachable, match="broke off in the middle of an answer"):
        answered_with(cut, manifest)


def _pull(registries: Registries, reference: Reference) -> Awaitable[object]:
    return pull_image(registries, reference, "/nowhere")


@pytest.mark.parametrize("operation", [_pull, manifest, resolve, tags])
async def test_a_trickling_download_is_aborted_at_the_deadline(
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

    async with (
        ScriptedRegistry().running() as registry,
        Registries(trust=Trust(pull_seconds=0.2)) as registries,
    ):
        for path in ("manifests/v1", "tags/list"):
            registry.handlers[f"/v2/acme/x/{path}"] = trickle
        with pytest.raises(
            PullTimedOut, match=r"was not pulled within 0\.2 s, the deadline for images"
        ) as failure:
            await operation(registries, parse(f"{registry.address}/acme/x:v1"))
    assert "--image-pull-timeout" in failure.value.hint


async def test_plain_http_is_refused_for_remote_registries() -> None:
    async with Registries() as registries:
        with pytest.raises(RegistryUnreachable):
            await manifest(registries, parse("registry.invalid/acme/x:v1"))
        assert registries._bases["registry.invalid"].scheme == "https"


async def test_a_proxy_is_used_for_remote_addresses() -> None:
    async def main() -> tuple[list[tuple[str, str, str]], list[str]]:
        async with ScriptedRegistry().running() as proxy, ScriptedRegistry().running() as registry:
            registry.serve("/v2/acme/x/manifests/v1", b"{}")
            proxies = {"http": f"http://{proxy.address}"}
            trust = Trust(plain_http=frozenset(["registry.test"]), proxies=proxies)
            proxy.serve("/v2/acme/x/manifests/v1", b"{}")
            async with Registries(trust=trust) as registries:
                await manifest(registries, parse("registry.test/acme/x:v1"))
                await manifest(registries, parse(f"{registry.address}/acme/x:v1"))
            return proxy.requests, [path for method, path, _ in registry.requests if method == "GET"]

    through, direct = await main()
    assert [path for _, path, _ in through] == ["/v2/acme/x/manifests/v1"]
    assert direct == ["/v2/acme/x/manifests/v1"]
