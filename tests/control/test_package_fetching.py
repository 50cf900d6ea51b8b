"""Fetching packages as a control plane does: what differs from its digest is neither used nor cached."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import secrets
import tarfile
import threading
import time

import pytest
from aiohttp import web

from crossply.control.kinds import IMAGE_CONFIG
from crossply.control.package_manager.package_content import read_package_content
from crossply.control.package_manager.package_fetcher import (
    ALWAYS,
    NEVER,
    FetchError,
    PackageFetcher,
    source_and_version,
)
from crossply.control.package_manager.settings import PackageSettings
from crossply.kube.core_kinds import SECRET, SERVICE_ACCOUNT
from crossply.xpkg.address_guard import AddressRefused
from crossply.xpkg.failures import PackagesError, TooLarge, WrongDigest
from crossply.xpkg.image import encode
from crossply.xpkg.registry_failures import NotAllowed, RegistryUnreachable
from crossply.xpkg.registry_session import Trust
from crossply.xpkg.signatures import NotSigned
from tests.support.bombs import MIB, bomb, header
from tests.support.images import STREAM, archive, image, member, package
from tests.support.registry import ScriptedRegistry

pytestmark = pytest.mark.usefixtures("installed")
DIGEST = encode(package()).manifest.digest


@pytest.fixture
def fetch(client, ns, tmp_path):
    """A faulty registry and a fetcher that uses it: `async with fetch(**settings) as (…)`."""

    @contextlib.asynccontextmanager
    async def serving(**settings):
        async with ScriptedRegistry().running() as registry:
            registry.serve_image(package())
            package_settings = PackageSettings(str(tmp_path / "packages"), namespace=ns, service_account="")
            yield registry, PackageFetcher(client, package_settings._replace(**settings))

    return serving


@contextlib.asynccontextmanager
async def config(client, prefix: str, **spec):
    """An ImageConfig, for as long as a case needs it."""
    name = f"case-{secrets.token_hex(4)}"
    body = {
        "apiVersion": IMAGE_CONFIG.api_version,
        "kind": IMAGE_CONFIG.kind,
        "metadata": {"name": name},
        "spec": {"matchImages": [{"prefix": prefix}], **spec},
    }
    await client.create(IMAGE_CONFIG, body)
    try:
        yield name
    finally:
        await client.delete(IMAGE_CONFIG, name)


async def pull_secret(
    client, namespace: str, registry: str, login: str, key: str = ".dockerconfigjson"
) -> str:
    auths = {registry: {"auth": base64.b64encode(login.encode()).decode()}}
    content = json.dumps(auths if key == ".dockercfg" else {"auths": auths})
    name = f"case-{secrets.token_hex(4)}"
    data = {key: base64.b64encode(content.encode()).decode()}
    kind = {".dockercfg": "kubernetes.io/dockercfg", ".dockerconfigjson": "kubernetes.io/dockerconfigjson"}
    body = {"metadata": {"name": name, "namespace": namespace}, "type": kind.get(key, "Opaque"), "data": data}
    await client.create(SECRET, body)
    return name


def paths(registry: ScriptedRegistry) -> list[str]:
    return [path for _, path, _ in registry.requests]


async def test_a_package_is_fetched_once_and_cached(fetch, tmp_path):
    async with fetch() as (registry, fetching):
        image = f"{registry.address}/acme/x:v1"
        fetched = await fetching.package(image)
        assert fetched.package.name == "function-x"
        assert (fetched.resolved.digest, fetched.resolved.pulled) == (DIGEST, image)
        left = [name[-3:] for name in os.listdir(tmp_path / "packages")]
        assert left == [".gz"], "and nothing is left over"
        registry.requests.clear()
        await fetching.package(image, digest=DIGEST)
        await fetching.package(image, NEVER, digest=DIGEST)
        assert paths(registry) == [], "what is known by its digest is not asked for"
        await fetching.package(image, ALWAYS, digest=DIGEST)
        assert len(paths(registry)) == 3, "the manifest, the configuration and the layer"


async def test_a_registry_that_does_not_answer_does_not_hold_up_others(fetch):
    async with fetch() as (registry, fetching), ScriptedRegistry().running() as slow:
        requested, released = asyncio.Semaphore(0), asyncio.Event()

        async def hang(request):
            requested.release()
            await released.wait()
            return web.Response(status=404)

        waiting = []
        for number in range(8):
            slow.handlers[f"/v2/acme/x{number}/manifests/v1"] = hang
            image = f"{slow.address}/acme/x{number}:v1"
            waiting.append(asyncio.create_task(fetching.package(image)))
        for _ in range(4):
            await requested.acquire()
        fetched = await fetching.package(f"{registry.address}/acme/x:v1")
        assert fetched.package.name == "function-x"
        for task in waiting:
            task.cancel()
        released.set()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_package_that_may_not_be_pulled_must_be_cached(fetch):
    async with fetch() as (registry, fetching):
        with pytest.raises(FetchError, match=r"^package not in cache and pull policy is Never$"):
            await fetching.package(f"{registry.address}/acme/x:v1", NEVER)


async def test_bytes_with_another_digest_are_not_used_and_not_cached(fetch, tmp_path):
    async with fetch() as (registry, fetching):
        other = package(STREAM.replace(b"function-x", b"function-y"))
        blob = package().layers[0].blob
        registry.serve(f"/v2/acme/x/blobs/{blob.digest}", other.layers[0].blob.open().read()[: blob.size])
        with pytest.raises(WrongDigest, match=rf"^cannot fetch package {registry.address}/acme/x:v1: blob "):
            await fetching.package(f"{registry.address}/acme/x:v1")
        registry.serve_image(package())
        path = f"/v2/acme/x/manifests/{DIGEST}"
        registry.serve(path, encode(other).manifest.data, Content_Type=encode(other).media_type)
        with pytest.raises(WrongDigest):
            await fetching.package(f"{registry.address}/acme/x:v1", digest=DIGEST)
        assert os.listdir(tmp_path / "packages") == []


async def test_a_cached_package_is_checked_when_it_is_read(fetch, tmp_path):
    async with fetch() as (registry, fetching):
        image = f"{registry.address}/acme/x:v1"
        await fetching.package(image)
        [cached] = (tmp_path / "packages").iterdir()
        cached.write_bytes(cached.read_bytes()[:-9] + b"wicked!!!")
        fetched = await fetching.package(image, digest=DIGEST)
        assert fetched.package.name == "function-x"


async def test_a_bomb_ends_at_its_limit_and_leaves_the_others_alone(fetch, tmp_path):
    async with fetch() as (registry, fetching):
        wicked = bomb(header("package.yaml", 250 * MIB, tarfile.REGTYPE), zeros=MIB)
        registry.serve_image(wicked, "acme/bomb")
        with pytest.raises(TooLarge, match=r"^cannot fetch package .*: the layer has more than \d+ bytes"):
            await fetching.package(f"{registry.address}/acme/bomb:v1")
        assert (await fetching.package(f"{registry.address}/acme/x:v1")).package.name == "function-x"


async def test_an_image_that_is_no_package_is_reported(fetch):
    async with fetch() as (registry, fetching):
        registry.serve_image(image(archive([member("bin/function", b"x")])), "acme/runtime")
        with pytest.raises(PackagesError, match=r"^cannot fetch package .*: package.yaml not found: EOF$"):
            await fetching.package(f"{registry.address}/acme/runtime:v1")


@pytest.mark.parametrize("key", [".dockerconfigjson", ".dockercfg"])
async def test_a_login_is_shown_to_its_registry_only(client, fetch, ns, key):
    async with fetch() as (registry, fetching):
        for path in ("manifests/v1", f"manifests/{DIGEST}"):
            registry.serve(f"/v2/acme/x/{path}", status=401, WWW_Authenticate='Basic realm="x"')
        name = await pull_secret(client, ns, "elsewhere.example", "me:secret", key)
        with pytest.raises(NotAllowed, match="UNAUTHORIZED") as refused:
            await fetching.resolve(f"{registry.address}/acme/x:v1", [name, "lost"])
        assert "(there is no pull secret lost)" in str(refused.value)
        assert {shown for _, _, shown in registry.requests} == {""}
        own = await pull_secret(client, ns, registry.address, "me:secret", key)
        with pytest.raises(NotAllowed):
            await fetching.resolve(f"{registry.address}/acme/x:v1", [own])
        assert f"Basic {base64.b64encode(b'me:secret').decode()}" in {
            shown for _, _, shown in registry.requests
        }


async def test_the_pull_secrets_of_the_service_account_are_for_all_packages(client, fetch, ns):
    async with fetch(service_account="crossplane") as (registry, fetching):
        registry.serve("/v2/acme/x/manifests/v1", status=401, WWW_Authenticate='Basic realm="x"')
        name = await pull_secret(client, ns, registry.address, "me:secret", ".dockerconfigjson")
        account = {"metadata": {"name": "crossplane", "namespace": ns}, "imagePullSecrets": [{"name": name}]}
        await client.create(SERVICE_ACCOUNT, account)
        with pytest.raises(NotAllowed):
            await fetching.resolve(f"{registry.address}/acme/x:v1")
        assert f"Basic {base64.b64encode(b'me:secret').decode()}" in {
            shown for _, _, shown in registry.requests
        }


async def test_versions_are_those_of_the_mirror(client, fetch):
    async with fetch() as (registry, fetching):
        registry.serve("/v2/acme/x/tags/list", b'{"tags": ["v1.0.0", "latest"]}')
        async with config(
            client, "registry.example/team/", rewriteImage={"prefix": f"{registry.address}/acme/"}
        ):
            assert await fetching.versions("registry.example/team/x") == ["v1.0.0", "latest"]
        with pytest.raises(PackagesError, match=r"^cannot list tags for .*/acme/y: GET .* 404"):
            await fetching.versions(f"{registry.address}/acme/y")


async def test_a_secret_that_is_no_pull_secret_is_reported_without_its_content(client, fetch, ns):
    async with fetch() as (registry, fetching):
        name = await pull_secret(client, ns, registry.address, "me:secret", "password")
        with pytest.raises(PackagesError, match=rf"^the pull secret {name} has neither ") as refused:
            await fetching.resolve(f"{registry.address}/acme/x:v1", [name])
        assert "secret:" not in str(refused.value)


@pytest.mark.parametrize("target", ["http://169.254.169.254/latest/meta-data", "file:///etc/passwd"])
async def test_a_registry_cannot_send_us_elsewhere(fetch, target):
    async with fetch() as (registry, fetching):
        registry.serve("/v2/acme/x/manifests/v1", status=307, Location=target)
        with pytest.raises(AddressRefused, match=r"^cannot resolve .* to digest: "):
            await fetching.resolve(f"{registry.address}/acme/x:v1")


async def test_plain_http_is_for_this_machine_or_where_it_was_allowed(fetch):
    async with fetch() as (registry, fetching):
        port = registry.address.rpartition(":")[2]
        with pytest.raises(RegistryUnreachable, match="https://"):
            await fetching.resolve(f"ip6-localhost:{port}/acme/x:v1")
    async with fetch(trust=Trust(plain_http=frozenset({"not.this.example"}))) as (_, fetching):
        with pytest.raises(RegistryUnreachable, match=r'Get "http://not.this.example/v2/"'):
            await fetching.resolve("not.this.example/acme/x:v1")


async def test_a_package_does_not_escape_its_verification_by_a_mirror(client, fetch):
    """Also where it was fetched before a signature was required."""

    async with fetch() as (registry, fetching):
        own = {"prefix": f"{registry.address}/acme/"}
        key = {"secretRef": {"name": "none", "key": "none"}}
        cosign = {"provider": "Cosign", "cosign": {"authorities": [{"name": "us", "key": key}]}}
        async with config(client, "registry.example/team/", rewriteImage=own):
            fetched = await fetching.package("registry.example/team/x:v1")
            assert str(fetched.resolved.reference) == f"{registry.address}/acme/x@{DIGEST}"
            async with config(client, "registry.example/", verification=cosign) as name:
                for policy in (NEVER, "", ALWAYS):
                    with pytest.raises(NotSigned):
                        await fetching.package("registry.example/team/x:v1", policy, digest=DIGEST)
                resolved = await fetching.resolve("registry.example/team/x:v1")
                assert {"name": name, "reason": "VerifyImage"} in resolved.config_refs


@pytest.mark.parametrize(
    ("image", "source", "version"),
    [
        ("docker.io/acme/x:v1", "docker.io/acme/x", "v1"),
        ("registry.example:5000/a/b:v1", "registry.example:5000/a/b", "v1"),
        (f"registry.example/a/b:v1@{DIGEST}", "registry.example/a/b", DIGEST),
        (f"registry.example/a/b@{DIGEST}", "registry.example/a/b", DIGEST),
    ],
)
def test_a_package_is_known_by_its_source_as_it_is_written(image, source, version):
    assert source_and_version(image) == (source, version)


async def test_an_object_that_no_api_server_would_take_is_not_read(fetch):
    async with fetch() as (registry, fetching):
        long = STREAM + b"apiVersion: v1\nkind: ConfigMap\ndata:\n" + b"  - []\n" * (2 * MIB)
        registry.serve_image(package(long), "acme/long")
        with pytest.raises(TooLarge, match=r"^cannot parse package: an object of \d+ bytes is larger than "):
            await fetching.package(f"{registry.address}/acme/long:v1")


def test_a_cancelled_fetch_stops_reading_the_package(monkeypatch):
    """After the object that is being read; the others are not begun."""
    started = threading.Event()
    read = []

    def slowly(stream, source):
        for number in range(1000):
            read.append(number)
            started.set()
            time.sleep(0.01)
            yield False, {"apiVersion": "v1", "kind": "X", "metadata": {"name": str(number)}}

    monkeypatch.setattr("crossply.control.package_manager.package_content.documents", slowly)

    async def main() -> None:
        reading = asyncio.create_task(read_package_content(b"", "x"))
        await asyncio.to_thread(started.wait)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading

    asyncio.run(main())  # ends when the thread has
    assert len(read) < 900
