"""Converts custom objects to another version by the webhook of their definition.

The webhook gets a ConversionReview and may change everything but the identity of an object; of its metadata
only labels and annotations are taken (`conversion_review` checks that). Calls time out after ten seconds
(kube-apiserver waits thirty), and long lists are converted in parts.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator

from crossply.apiserver.apiextensions.conversion_review import BadAnswer, merged_object, read_answer
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.resources import Resource
from crossply.apiserver.stored_object_codec import to_json
from crossply.apiserver.webhooks.client import WebhookCallError, WebhookClient, WebhookConfigError
from crossply.apiserver.webhooks.service_resolution import ResolveService
from crossply.values import Object

MOST_OBJECTS = 500
"""How many objects one review has at most."""
TIMEOUT_SECONDS = 10.0
LARGEST_RESPONSE = 32 << 20
_AT_ONCE = 4
_REVIEWS = ("v1", "v1beta1")


class WebhookConverter:
    """Converts objects by webhooks; keeps connections to them open."""

    def __init__(self, resolve: ResolveService) -> None:
        self._client = WebhookClient(resolve, purpose="conversion", largest_response=LARGEST_RESPONSE)

    async def close(self) -> None:
        await self._client.close()

    async def __call__(self, resource: Resource, objects: list[Object], version: str) -> list[Object]:
        """The objects at a version; those at that version already are unchanged. Raises StatusError."""
        api_version = resource.api_version(version)
        pending = [obj for obj in objects if obj.get("apiVersion") != api_version]
        parts = [pending[at : at + MOST_OBJECTS] for at in range(0, len(pending), MOST_OBJECTS)]
        converted: list[Object] = []
        for at in range(0, len(parts), _AT_ONCE):
            reviews = (self._review(resource, part, api_version) for part in parts[at : at + _AT_ONCE])
            for answer in await asyncio.gather(*reviews):
                converted += answer
        return list(_merged(objects, iter(converted), api_version))

    async def _review(self, resource: Resource, objects: list[Object], api_version: str) -> list[Object]:
        prefix = f"conversion webhook for {objects[0].get('apiVersion')}, Kind={resource.names.kind}"
        webhook = (resource.conversion or {}).get("webhook") or {}
        known = [version for version in webhook.get("conversionReviewVersions") or () if version in _REVIEWS]
        if not known:
            raise _failed("no supported conversion review versions")
        uid = str(uuid.uuid4())
        request = to_json(_request(known[0], uid, objects, api_version))
        try:
            answer = await self._client.post(webhook.get("clientConfig") or {}, request, TIMEOUT_SECONDS)
            results = read_answer(answer, known[0], uid)
        except (WebhookConfigError, WebhookCallError, BadAnswer) as problem:
            raise _failed(f"{prefix} failed: {problem}") from None
        if len(results) != len(objects):
            raise _failed(f"{prefix} returned {len(results)} objects, expected {len(objects)}")
        return _checked(prefix, objects, results, api_version)


def _request(review: str, uid: str, objects: list[Object], api_version: str) -> Object:
    return {
        "kind": "ConversionReview",
        "apiVersion": f"apiextensions.k8s.io/{review}",
        "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": objects},
    }


def _checked(prefix: str, objects: list[Object], results: list[object], api_version: str) -> list[Object]:
    checked = []
    for index, (before, after) in enumerate(zip(objects, results, strict=True)):
        try:
            checked.append(merged_object(before, after, api_version))
        except BadAnswer as problem:
            place = "object at index 0" if len(objects) == 1 else f"converted object at index {index}"
            raise _failed(f"{prefix} returned invalid {place}: {problem}") from None
    return checked


def _merged(objects: list[Object], converted: Iterator[Object], api_version: str) -> Iterator[Object]:
    for obj in objects:
        yield obj if obj.get("apiVersion") == api_version else next(converted)


def _failed(message: str) -> StatusError:
    return StatusError(500, "", message)
