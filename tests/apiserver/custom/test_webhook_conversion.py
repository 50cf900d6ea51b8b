"""Conversion by webhook, over real HTTPS. The sentences are those of kube-apiserver v1.36."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from crossply.apiserver.apiextensions import webhook_converter as webhook_conversion
from crossply.apiserver.apiextensions.webhook_converter import WebhookConverter
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.webhooks.service_resolution import ServiceUnreachable
from crossply.values import Object
from tests.support.apiserver.conversion_webhook import Hook, box, hook, reviewed

Rewrite = Callable[[Object], Object]
PREFIX = "conversion webhook for acme.example.org/v1, Kind=Box "


def nowhere(namespace: str, name: str, port: int) -> str:
    raise ServiceUnreachable(f'service "{name}" not found')


@asynccontextmanager
async def converting(
    tmp_path: Path, rewrite: Rewrite = reviewed, find: Any = nowhere
) -> AsyncIterator[tuple[Hook, WebhookConverter]]:
    async def answer(review: Object) -> web.Response:
        return web.json_response(rewrite(review))

    converter = WebhookConverter(find)
    async with hook(answer, tmp_path) as running:
        yield running, converter
        await converter.close()


async def failure(tmp_path: Path, rewrite: Rewrite) -> str:
    """The error message for a response of the webhook."""
    async with converting(tmp_path, rewrite) as (running, converter):
        with pytest.raises(StatusError) as failed:
            await converter(running.resource(), [box("a")], "v2")
    assert failed.value.status == 500
    return str(failed.value)


async def test_only_objects_at_other_versions_are_converted(tmp_path: Path) -> None:
    def rewrite(review: Object) -> Object:
        return reviewed(review, lambda obj: {**obj, "spec": {"moved": obj["spec"]["x"]}})

    there = {**box("b"), "apiVersion": "acme.example.org/v2"}
    async with converting(tmp_path, rewrite) as (running, converter):
        objects = [box("a", spec={"x": 1}), there, box("c", spec={"x": 2})]
        converted = await converter(running.resource(), objects, "v2")
    assert [obj["metadata"]["name"] for obj in converted] == ["a", "b", "c"]
    assert [obj.get("spec") for obj in converted] == [{"moved": 1}, None, {"moved": 2}]
    assert {obj["apiVersion"] for obj in converted} == {"acme.example.org/v2"}
    (review,) = running.reviews
    assert (review["kind"], review["apiVersion"]) == ("ConversionReview", "apiextensions.k8s.io/v1")
    assert review["request"]["desiredAPIVersion"] == "acme.example.org/v2"
    assert len(review["request"]["objects"]) == 2


async def test_only_labels_and_annotations_of_metadata_are_copied(tmp_path: Path) -> None:
    def change(obj: Object) -> Object:
        metadata = {**obj["metadata"], "labels": {"new": "yes"}, "finalizers": ["x/y"], "generation": 9}
        return {**obj, "metadata": metadata}

    async with converting(tmp_path, lambda review: reviewed(review, change)) as (running, converter):
        (converted,) = await converter(running.resource(), [box("a")], "v2")
    assert converted["metadata"] == {"name": "a", "namespace": "n", "uid": "uid-a", "labels": {"new": "yes"}}


async def test_long_lists_are_converted_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_conversion, "MOST_OBJECTS", 3)
    async with converting(tmp_path) as (running, converter):
        converted = await converter(running.resource(), [box(str(n)) for n in range(20)], "v2")
    assert [obj["metadata"]["name"] for obj in converted] == [str(n) for n in range(20)]
    assert sorted(len(review["request"]["objects"]) for review in running.reviews) == [2, *[3] * 6]


async def test_the_first_review_version_that_is_known_is_used(tmp_path: Path) -> None:
    async with converting(tmp_path) as (running, converter):
        await converter(running.resource("v9", "v1beta1", "v1"), [box("a")], "v2")
    assert running.reviews[0]["apiVersion"] == "apiextensions.k8s.io/v1beta1"


def response(**changes: Any) -> Rewrite:
    def rewrite(review: Object) -> Object:
        answer = reviewed(review)
        return {**answer, "response": {**answer["response"], **changes}}

    return rewrite


def objects(change: Callable[[Object], Any]) -> Rewrite:
    return lambda review: reviewed(review, change)


def metadata(**changes: Any) -> Rewrite:
    return objects(lambda obj: {**obj, "metadata": {**obj["metadata"], **changes}})


@pytest.mark.parametrize(
    ("rewrite", "message", "reason"),
    [
        (response(result={"status": "Failure", "message": "no way"}), "failed: no way", "it says why"),
        (
            response(result={}),
            "failed: response.result.status was '', not 'Success'",
            "success must be said",
        ),
        (response(convertedObjects=[]), "returned 0 objects, expected 1", "nothing is left out"),
        (lambda review: {**reviewed(review), "response": None}, "failed: no response provided", "empty"),
        (
            lambda review: {**reviewed(review), "kind": "AdmissionReview"},
            "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got "
            "apiextensions.k8s.io/v1, Kind=AdmissionReview",
            "another kind of review",
        ),
        (
            objects(lambda obj: {**obj, "apiVersion": "acme.example.org/v3"}),
            "returned invalid object at index 0: invalid groupVersion (expected acme.example.org/v2, "
            "received acme.example.org/v3)",
            "another version",
        ),
        (
            objects(lambda obj: {**obj, "kind": "Crate"}),
            "returned invalid object at index 0: invalid kind (expected Box, received Crate)",
            "another kind",
        ),
        (
            metadata(name="b"),
            "returned invalid object at index 0: must have the same name: a != b",
            "another object",
        ),
        (
            metadata(uid="x"),
            "returned invalid object at index 0: must have the same UID: uid-a != x",
            "another object of the name",
        ),
        (
            metadata(labels={"n": 1}),
            "returned invalid object at index 0: metadata.labels[n] must be a string, but is int64 in "
            "converted object",
            "a label that is none",
        ),
    ],
)
async def test_a_wrong_answer_is_refused(tmp_path: Path, rewrite: Rewrite, message: str, reason: str) -> None:
    assert await failure(tmp_path, rewrite) == PREFIX + message, reason


async def test_an_answer_to_another_question_is_refused(tmp_path: Path) -> None:
    message = await failure(tmp_path, response(uid="other"))
    assert message.startswith(f'{PREFIX}failed: expected response.uid="')
    assert message.endswith('", got "other"')


async def test_a_service_is_resolved_and_must_show_its_own_certificate(tmp_path: Path) -> None:
    async def answer(review: Object) -> web.Response:
        return web.json_response(reviewed(review))

    async with hook(answer, tmp_path) as running:
        converter = WebhookConverter(lambda namespace, name, port: f"127.0.0.1:{running.port}")
        bundle = running.resource().conversion["webhook"]["clientConfig"]["caBundle"]  # type: ignore[index]
        right = {"name": "hook", "namespace": "tools", "path": "/x", "port": 443}
        known = running.resource(service=right, caBundle=bundle)
        assert len(await converter(known, [box("a")], "v2")) == 1
        other = running.resource(service={**right, "name": "imposter"}, caBundle=bundle)
        with pytest.raises(StatusError, match="failed to verify certificate: x509"):
            await converter(other, [box("a")], "v2")
        await converter.close()


async def test_a_service_that_is_not_there_is_named(tmp_path: Path) -> None:
    service = {"name": "hook", "namespace": "tools", "port": 443}
    async with converting(tmp_path) as (running, converter):
        with pytest.raises(StatusError) as failed:
            await converter(running.resource(service=service), [box("a")], "v2")
    assert str(failed.value) == (
        f'{PREFIX}failed: Post "https://hook.tools.svc:443/?timeout=10s": service "hook" not found'
    )


async def test_an_unknown_authority_is_not_trusted(tmp_path: Path) -> None:
    async with converting(tmp_path) as (running, converter):
        with pytest.raises(StatusError, match="x509: certificate signed by unknown authority"):
            await converter(running.resource(url=f"https://127.0.0.1:{running.port}/"), [box("a")], "v2")


async def test_a_refusing_or_silent_webhook_does_not_hold_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(review: Object) -> web.Response:
        return web.Response(status=500, text="out of order")

    over = asyncio.Event()

    async def sleep(review: Object) -> web.Response:
        await over.wait()
        return web.Response()

    async with hook(refuse, tmp_path) as running:
        converter = WebhookConverter(nowhere)
        with pytest.raises(StatusError, match=r'an error on the server \("out of order"\) has prevented'):
            await converter(running.resource(), [box("a")], "v2")
        await converter.close()
    monkeypatch.setattr(webhook_conversion, "TIMEOUT_SECONDS", 0.2)
    async with hook(sleep, tmp_path) as running:
        converter = WebhookConverter(nowhere)
        with pytest.raises(StatusError, match="context deadline exceeded"):
            await converter(running.resource(), [box("a")], "v2")
        await converter.close()
        over.set()


async def test_an_answer_without_end_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_conversion, "LARGEST_RESPONSE", 1000)
    message = await failure(tmp_path, metadata(annotations={"a": "x" * 2000}))
    assert message.endswith("the response is larger than 1000 bytes")


async def test_a_closed_port_is_reported(tmp_path: Path) -> None:
    async with converting(tmp_path) as (running, converter):
        resource = running.resource(url="https://127.0.0.1:1/")
        with pytest.raises(StatusError) as failed:
            await converter(resource, [box("a")], "v2")
    assert str(failed.value).endswith("dial tcp 127.0.0.1:1: connect: connection refused")


async def test_a_bundle_that_is_not_base64_is_refused(tmp_path: Path) -> None:
    async with converting(tmp_path) as (running, converter):
        resource = running.resource(url=f"https://127.0.0.1:{running.port}/", caBundle="not base64!")
        with pytest.raises(StatusError) as failed:
            await converter(resource, [box("a")], "v2")
    assert str(failed.value).endswith(
        "failed: unable to load root certificates: unable to parse bytes as PEM block"
    )
