"""Taking objects to another version by asking the webhook that their definition names.

The webhook gets a ConversionReview and may change everything but the identity of an object; of its metadata
only labels and annotations are taken over (`review_answers` checks that). Requests end after ten seconds (the
real server waits thirty), answers are bounded in size, and long lists are asked about in parts.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crossply.apiserver.apiextensions.conversion_review import BadAnswer, read_answer, taken_over
from crossply.apiserver.apiextensions.webhook_client import CallFailed, WebhookClient
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.json_output import to_json
from crossply.apiserver.registry.resources import Resource
from crossply.values import Object

MOST_OBJECTS = 500
"""How many objects one review may hold."""
_AT_ONCE = 4
_REVIEWS = ("v1", "v1beta1")


class Address(NamedTuple):
    """Where a service is reached."""

    host: str
    port: int


FindService = Callable[[str, str, int], Address | None]
"""Namespace, name and port of a service to where it is; None: there is no such service."""


class WebhookConverter:
    """Converts objects by webhooks; keeps connections to them."""

    def __init__(self, find_service: FindService) -> None:
        self._find_service = find_service
        self._client = WebhookClient()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def __call__(self, resource: Resource, objects: list[Object], version: str) -> list[Object]:
        """The objects at a version; those that are there already stay as they are. Raises StatusError."""
        wanted = resource.api_version(version)
        pending = [obj for obj in objects if obj.get("apiVersion") != wanted]
        parts = [pending[at : at + MOST_OBJECTS] for at in range(0, len(pending), MOST_OBJECTS)]
        converted: list[Object] = []
        for at in range(0, len(parts), _AT_ONCE):
            reviews = (self._review(resource, part, wanted) for part in parts[at : at + _AT_ONCE])
            for answer in await asyncio.gather(*reviews):
                converted += answer
        return list(_merged(objects, iter(converted), wanted))

    async def _review(self, resource: Resource, objects: list[Object], wanted: str) -> list[Object]:
        told = f"conversion webhook for {objects[0].get('apiVersion')}, Kind={resource.names.kind}"
        webhook = (resource.conversion or {}).get("webhook") or {}
        known = [each for each in webhook.get("conversionReviewVersions") or () if each in _REVIEWS]
        if not known:
            raise _failed("no supported conversion review versions")
        uid = str(uuid.uuid4())
        request = to_json(_request(known[0], uid, objects, wanted))
        try:
            answer = await self._call(webhook.get("clientConfig") or {}, request)
            results = read_answer(answer, known[0], uid)
        except (CallFailed, BadAnswer) as problem:
            raise _failed(f"{told} failed: {problem}") from None
        if len(results) != len(objects):
            raise _failed(f"{told} returned {len(results)} objects, expected {len(objects)}")
        return _checked(told, objects, results, wanted)

    async def _call(self, client: Object, request: bytes) -> bytes:
        bundle = client.get("caBundle") or ""
        service = client.get("service")
        if service is None:
            return await self._client.post(client.get("url") or "", request, bundle)
        name, namespace, port = service["name"], service["namespace"], service.get("port") or 443
        server, path = f"{name}.{namespace}.svc", (service.get("path") or "").lstrip("/")
        found = self._find_service(namespace, name, port)
        shown = f"https://{server}:{port}/{path}"
        if found is None:
            raise CallFailed.posting(shown, f'service "{name}" not found')
        url = f"https://{found.host}:{found.port}/{path}"
        return await self._client.post(url, request, bundle, server_name=server, shown=shown)


def _request(review: str, uid: str, objects: list[Object], wanted: str) -> Object:
    return {
        "kind": "ConversionReview",
        "apiVersion": f"apiextensions.k8s.io/{review}",
        "request": {"uid": uid, "desiredAPIVersion": wanted, "objects": objects},
    }


def _checked(told: str, objects: list[Object], results: list[object], wanted: str) -> list[Object]:
    checked = []
    for index, (before, after) in enumerate(zip(objects, results, strict=True)):
        try:
            checked.append(taken_over(before, after, wanted))
        except BadAnswer as problem:
            place = "object at index 0" if len(objects) == 1 else f"converted object at index {index}"
            raise _failed(f"{told} returned invalid {place}: {problem}") from None
    return checked


def _merged(objects: list[Object], converted: Iterator[Object], wanted: str) -> Iterator[Object]:
    for obj in objects:
        yield obj if obj.get("apiVersion") == wanted else next(converted)


def _failed(message: str) -> StatusError:
    return StatusError(500, "", message)
