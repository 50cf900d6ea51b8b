"""Nothing that a registry answers has us show secrets or go where we should not."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web
from yarl import URL

from crossply.xpkg.address_guard import AddressRefused, is_public, may_see_credentials
from crossply.xpkg.image_pull import manifest
from crossply.xpkg.image_reference import Reference, parse
from crossply.xpkg.keychain import DockerConfig
from crossply.xpkg.registry_failures import (
    NotAllowed,
    RegistryUnreachable,
)
from crossply.xpkg.registry_session import Registries
from tests.support.registry import LOGIN, ScriptedRegistry, play

OTHER_LOGIN = base64.b64encode(b"mallory:other").decode()
REDIRECTS = {
    "cloud metadata": "http://169.254.169.254/latest/meta-data/",
    "a file": "file:///etc/passwd",
    "a private network": "http://10.1.2.3/x",
    "an address of this machine, otherwise written": "http://[::ffff:127.0.0.1]:1/x",
    "another address of this machine": "http://127.0.0.2:1/x",
    "cloud metadata behind a gateway": "http://[64:ff9b::a9fe:a9fe]/x",
    "a private network in an address of version 6": "http://[2002:0a01:0203::1]/x",
    "this machine in an IPv4-compatible address": "http://[::127.0.0.1]:1/x",
    "this machine as one number": "http://2130706433:1/x",
}
PRIVATE_SPELLINGS = {
    "::10.0.0.1": "IPv4-compatible",
    "::ffff:0:10.0.0.1": "translated by SIIT",
    "64:ff9b:1::a00:1": "NAT64 of a network's own",
    "2001:0:4136:e378:8000:63bf:f5ff:fffe": "Teredo",
    "fec0::1": "site-local",
    "ff0e::1": "multicast of version 6",
    "224.0.0.1": "multicast",
    "0x7f000001": "hexadecimal",
    "0177.0.0.1": "octal",
    "10.1": "two numbers",
    "127.0.0.1.": "with a dot behind",
    "localhost.": "a name with a dot behind",
}


@pytest.mark.parametrize("target", REDIRECTS.values(), ids=REDIRECTS.keys())
def test_redirects_into_private_places_are_not_followed(target: str) -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        registry.serve("/v2/acme/x/manifests/v1", status=307, Location=target)
        with pytest.raises(AddressRefused):
            await manifest(registries, reference)

    play(scene)


@pytest.mark.parametrize("host", PRIVATE_SPELLINGS, ids=PRIVATE_SPELLINGS.get)
def test_a_private_address_is_known_however_it_is_written(host: str) -> None:
    assert not is_public(host)


@pytest.mark.parametrize(
    "host", ["8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2001:4860::1", "1.example.org"]
)
def test_an_address_on_the_internet_is_public(host: str) -> None:
    assert is_public(host)


def test_a_name_that_leads_into_a_private_network_is_not_followed() -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        port = registry.address.rpartition(":")[2]
        registry.serve("/v2/acme/x/manifests/v1", status=307, Location=f"http://ip6-localhost:{port}/x")
        with pytest.raises((AddressRefused, RegistryUnreachable)):
            await manifest(registries, reference)

    _, registry = play(scene)
    assert [path for _, path, _ in registry.requests if path == "/x"] == []


def test_redirects_end() -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
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


def test_a_registry_gets_the_password_it_requires() -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        registry.handlers["/v2/acme/x/manifests/v1"] = _wants('Basic realm="x"', b"{}")
        await manifest(registries, reference)

    _, registry = play(scene, logins=True)
    assert [shown for method, _, shown in registry.requests if method == "GET"] == ["", f"Basic {LOGIN}"]


def test_a_token_is_fetched_where_the_registry_points_to() -> None:
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        realm = f'Bearer realm="http://{registry.address}/token",service="s",scope="repository:acme/x:pull"'
        registry.handlers["/v2/acme/x/manifests/v1"] = _wants(realm, b"{}")
        registry.serve("/token", b'{"token": "abc"}')
        await manifest(registries, reference)
        await manifest(registries, reference)

    _, registry = play(scene, logins=True)
    shown = [(path, header) for method, path, header in registry.requests if method == "GET"]
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
    async def scene(registry: ScriptedRegistry, registries: Registries, reference: Reference) -> None:
        registry.handlers["/v2/acme/x/manifests/v1"] = _wants(f'Bearer realm="{realm}"', b"{}")
        with pytest.raises(AddressRefused):
            await manifest(registries, reference)

    play(scene, logins=True)


async def test_credentials_stay_with_the_registry_when_it_redirects() -> None:
    async def main() -> list[str]:
        async with ScriptedRegistry().running() as registry, ScriptedRegistry().running() as other:
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
            return [shown for _, _, shown in other.requests]

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
    """The credentials sent to a token server at another port, the refusal, and the server's address.

    It gives a token to every client; the registry accepts only the one for a login.
    """
    async with ScriptedRegistry().running() as registry, ScriptedRegistry().running() as server:
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
        return [shown for _, path, shown in server.requests if path == "/token"], refused, server.address


async def test_a_password_is_not_shown_to_a_token_server_on_another_port() -> None:
    shown, refused, server = await _pull_with_token_server("registry")
    assert shown == [""]
    assert refused is not None
    assert f"add an entry for {server}" in refused.hint


async def test_a_token_server_on_another_port_gets_its_own_login() -> None:
    shown, refused, _ = await _pull_with_token_server("registry", "server")
    assert shown == [f"Basic {LOGIN}"]
    assert refused is None


async def _tokens_shown_to_registry(auths: dict[str, str]) -> tuple[list[str], NotAllowed | None]:
    """What a registry is shown that names another server, where the user has a login, as its token server.

    The server gives out tokens to whoever logs in.
    """
    async with ScriptedRegistry().running() as registry, ScriptedRegistry().running() as other:
        places = {"registry": registry.address, "other": other.address}
        config = {"auths": {places[name]: {"auth": login} for name, login in auths.items()}}

        async def give(request: web.Request) -> web.StreamResponse:
            is_known = request.headers.get("Authorization") == f"Basic {LOGIN}"
            return web.json_response({"token": "of-other" if is_known else "anonymous"})

        other.handlers["/token"] = give
        challenge = f'Bearer realm="http://{other.address}/token",scope="repository:private/x:pull,push"'
        registry.serve("/v2/acme/x/manifests/v1", status=401, **{"WWW-Authenticate": challenge})
        refused = None
        async with Registries(DockerConfig(config)) as registries:
            try:
                await manifest(registries, parse(f"{registry.address}/acme/x:v1"))
            except NotAllowed as problem:
                refused = problem
        return [shown for _, _, shown in registry.requests if shown], refused


@pytest.mark.parametrize(
    "auths",
    [
        pytest.param({"other": LOGIN}, id="without a login"),
        pytest.param({"other": LOGIN, "registry": OTHER_LOGIN}, id="with another login"),
    ],
)
async def test_a_registry_gets_no_token_for_the_login_of_another(auths: dict[str, str]) -> None:
    shown, refused = await _tokens_shown_to_registry(auths)
    assert shown == ["Bearer anonymous"]
    assert refused is not None
