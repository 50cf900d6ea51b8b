"""The certificate of the webhook server, as clients that connect see it."""

from __future__ import annotations

import contextlib
import io
import ssl
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest

from crossply.control.replica_shared_secret import data_of
from crossply.control.webhooks.certificates import LIFE, certificate_files, new_certificate, read_certificate
from crossply.control.webhooks.webhook_address import WebhookSettings, find_address
from crossply.control.webhooks.webhook_server import PATH, CannotListen, WebhookServer

NAMES = ("127.0.0.1", "hooks.crossplane-system.svc")
NOW = datetime.now(UTC)


async def answer(request):
    return {"uid": request["uid"], "allowed": True}


@contextlib.asynccontextmanager
async def serve(certificate=None):
    """A running server, and its address."""
    server = WebhookServer(answer)
    server.use(certificate or new_certificate(NAMES, NOW))
    port = await server.start("127.0.0.1", 0)
    try:
        yield server, f"https://127.0.0.1:{port}{PATH}"
    finally:
        await server.stop()


def trusting(certificate) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=certificate.authorities.decode())


async def ask(url, context, body=b'{"request": {"uid": "1"}}', **options):
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=io.BytesIO(body), ssl=context, **options) as reply,
    ):
        return reply.status, await reply.read()


async def test_a_review_is_answered_over_tls():
    certificate = new_certificate(NAMES, NOW)

    async with serve(certificate) as (_, url):
        status, body = await ask(url, trusting(certificate))
        assert status == 200
        assert b'"response":{"uid":"1","allowed":true}' in body
        assert (await ask(url, trusting(certificate), server_hostname=NAMES[1]))[0] == 200


async def test_versions_of_tls_before_1_3_are_refused():
    certificate = new_certificate(NAMES, NOW)
    old = trusting(certificate)
    old.maximum_version = ssl.TLSVersion.TLSv1_2

    async with serve(certificate) as (_, url):
        with pytest.raises(aiohttp.ClientError):
            await ask(url, old)


async def test_after_a_renewal_both_certificates_are_trusted():
    before = new_certificate(NAMES, NOW)
    after = new_certificate(NAMES[:1], NOW, before)
    assert set(after.names) == set(NAMES), "other replicas still need the other names"

    async with serve(before) as (server, url):
        assert (await ask(url, trusting(after)))[0] == 200
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await ask(url, trusting(new_certificate(NAMES, NOW)))
        server.use(after)
        assert (await ask(url, trusting(after)))[0] == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 400), (b"[]", 400), (b'{"request": 1}', 400), (b"x" * (9 << 20), 413)],
    ids=["nothing", "no object", "no request", "too large"],
)
async def test_a_body_that_is_no_review_is_refused(body, status):
    certificate = new_certificate(NAMES, NOW)

    async with serve(certificate) as (_, url):
        assert (await ask(url, trusting(certificate), body))[0] == status


async def test_a_port_in_use_is_reported_in_plain_words():
    async with serve() as (_, url):
        port = int(url.split(":")[2].split("/")[0])
        with pytest.raises(CannotListen, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
            await WebhookServer(answer).start("127.0.0.1", port)


@pytest.mark.parametrize(
    ("names", "after", "good", "why"),
    [
        (NAMES, timedelta(), True, "it was made for these"),
        (NAMES[:1], timedelta(), True, "some of them will do"),
        (("10.0.0.1",), timedelta(), False, "nobody would accept it there"),
        (NAMES, LIFE / 2, True, "it has a long way to go"),
        (NAMES, LIFE * 0.7, False, "it is renewed long before it ends"),
    ],
)
def test_a_certificate_serves_its_names_and_its_time(names, after, good, why):
    assert new_certificate(NAMES, NOW).serves(names, NOW + after) is good, why


def test_a_certificate_survives_its_secret():
    certificate = new_certificate(NAMES, NOW)
    assert read_certificate({"data": data_of(certificate_files(certificate))}) == certificate


@pytest.mark.parametrize(
    "secret",
    [None, {}, {"data": {}}, {"data": {"ca.crt": "eA==", "tls.crt": "eA==", "tls.key": "%"}}],
    ids=["none", "empty", "no files", "no PEM"],
)
def test_a_secret_that_cannot_be_read_is_none(secret):
    assert read_certificate(secret) is None


@pytest.mark.parametrize(
    ("settings", "server", "listen_address", "config"),
    [
        (WebhookSettings(), "https://127.0.0.1:6443", "127.0.0.1", {"url": "https://127.0.0.1:9/x"}),
        (WebhookSettings(), "https://localhost:6443", "127.0.0.1", {"url": "https://127.0.0.1:9/x"}),
        (WebhookSettings(host="::1"), "https://10.0.0.1", "::1", {"url": "https://[::1]:9/x"}),
        (WebhookSettings(host="me.local"), "https://127.0.0.1", "", {"url": "https://me.local:9/x"}),
        (
            WebhookSettings(service_name="hooks"),
            "https://10.0.0.1",
            "",
            {"service": {"namespace": "crossplane-system", "name": "hooks", "path": "/x", "port": 443}},
        ),
    ],
    ids=["own machine", "own name", "an IPv6 address", "a name", "a Service"],
)
def test_the_address_that_api_servers_call(settings, server, listen_address, config):
    address = find_address(settings, server)
    assert address.listen == listen_address
    assert address.client_config("/x", 9, "Yg==") == {**config, "caBundle": "Yg=="}


def test_a_service_is_called_by_its_name():
    address = find_address(WebhookSettings(service_name="hooks", service_namespace="sys"), "https://10.0.0.1")
    assert address.names[0] == "hooks.sys.svc"
