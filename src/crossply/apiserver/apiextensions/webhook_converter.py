"""Converts custom objects to another version by the webhook of their definition.

The webhook gets a ConversionReview and may change everything but the identity of an object; of its metadata
only labels and annotations are taken (`_merged_object` checks that). Calls time out after ten seconds
(kube-apiserver waits thirty), and long lists are converted in parts.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any

import orjson

from crossply.apiserver.endpoints.body_decoding import MAX_DEPTH
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.metadata_validation import check_labels
from crossply.apiserver.registry.name_validation import qualified_name_problems
from crossply.apiserver.served_resources import Resource
from crossply.apiserver.stored_object_codec import to_json
from crossply.apiserver.webhooks.client import WebhookCallError, WebhookClient, WebhookConfigError
from crossply.apiserver.webhooks.service_resolution import ResolveService
from crossply.schema.field_errors import INVALID, FieldError
from crossply.values import Object
from crossply.values.deepcopy import deepcopy
from crossply.values.goformat import go_type
from crossply.values.nesting import nests_deeper

MOST_OBJECTS = 500
"""How many objects one review has at most."""
TIMEOUT_SECONDS = 10.0
LARGEST_RESPONSE = 32 << 20
_AT_ONCE = 4
_REVIEWS = ("v1", "v1beta1")
_AROUND_OBJECTS = 3
"""The levels of a ConversionReview around an object: the review, its response and the list in it."""


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
            results = _read_answer(answer, known[0], uid)
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
            checked.append(_merged_object(before, after, api_version))
        except BadAnswer as problem:
            place = "object at index 0" if len(objects) == 1 else f"converted object at index {index}"
            raise _failed(f"{prefix} returned invalid {place}: {problem}") from None
    return checked


def _merged(objects: list[Object], converted: Iterator[Object], api_version: str) -> Iterator[Object]:
    for obj in objects:
        yield obj if obj.get("apiVersion") == api_version else next(converted)


def _failed(message: str) -> StatusError:
    return StatusError(500, "", message)


class BadAnswer(Exception):
    """The response is not a valid ConversionReview."""


def _read_answer(body: bytes, review: str, uid: str) -> list[Any]:
    """The converted objects in a response; raises BadAnswer."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError as problem:
        raise BadAnswer(f"the answer is not JSON: {problem}") from None
    if not isinstance(answer, dict) or nests_deeper(answer, MAX_DEPTH + _AROUND_OBJECTS):
        raise BadAnswer("the answer is not a ConversionReview")
    response = answer.get("response")
    if review == "v1":
        _check_kind(answer)
    if not isinstance(response, dict):
        raise BadAnswer("no response provided")
    if review == "v1" and response.get("uid") != uid:
        raise BadAnswer(f'expected response.uid="{uid}", got "{response.get("uid") or ""}"')
    return _objects(response)


def _check_kind(answer: Object) -> None:
    api_version, kind = str(answer.get("apiVersion") or ""), str(answer.get("kind") or "")
    if (api_version, kind) != ("apiextensions.k8s.io/v1", "ConversionReview"):
        expected = "apiextensions.k8s.io/v1, Kind=ConversionReview"
        raise BadAnswer(f"expected webhook response of {expected}, got {api_version or '/'}, Kind={kind}")


def _objects(response: Object) -> list[Any]:
    result = response.get("result") if isinstance(response.get("result"), dict) else {}
    status = (result or {}).get("status") or ""
    if status != "Success":
        message = (result or {}).get("message")
        raise BadAnswer(str(message) if message else f"response.result.status was '{status}', not 'Success'")
    objects = response.get("convertedObjects")
    return objects if isinstance(objects, list) else []


def _merged_object(before: Object, after: Any, api_version: str) -> Object:
    """A converted object with its original metadata, but for labels and annotations; raises BadAnswer."""
    if not isinstance(after, dict):
        raise BadAnswer(f"json: cannot unmarshal {go_type(after)} into Go value of type map")
    _check_identity(before, after, api_version)
    if after.get("metadata") is None:
        raise BadAnswer("missing metadata in converted object")
    converted: Object = after["metadata"]
    metadata = deepcopy(before.get("metadata") or {})
    for key in ("labels", "annotations"):
        _take_map(metadata, converted, key)
    return {**after, "metadata": metadata}


def _check_identity(before: Object, after: Object, api_version: str) -> None:
    version, kind = after.get("apiVersion") or "", after.get("kind") or ""
    if version != api_version:
        raise BadAnswer(f"invalid groupVersion (expected {api_version}, received {version})")
    if kind != before.get("kind"):
        raise BadAnswer(f"invalid kind (expected {before.get('kind')}, received {kind})")
    metadata = after.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise BadAnswer(f"invalid metadata of type {go_type(metadata)} in converted object")
    was, now = before.get("metadata") or {}, metadata or {}
    for key, label in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        old, new = was.get(key) or "", now.get(key) or ""
        if old != new:
            raise BadAnswer(f"must have the same {label}: {old} != {new}")


def _check_annotations(annotations: Object) -> list[FieldError]:
    return [
        FieldError(INVALID, "metadata.annotation", name, problem)
        for name in annotations
        for problem in qualified_name_problems(name.lower())
    ]


def _take_map(metadata: Object, converted: Object, key: str) -> None:
    value = converted.get(key)
    if value is None:
        metadata.pop(key, None)
        return
    if not isinstance(value, dict):
        raise BadAnswer(f"invalid metadata.{key} of type {go_type(value)} in converted object")
    for name, text in value.items():
        if not isinstance(text, str):
            raise BadAnswer(
                f"metadata.{key}[{name}] must be a string, but is {go_type(text)} in converted object"
            )
    if value != metadata.get(key):
        errors = check_labels(value, "metadata.labels") if key == "labels" else _check_annotations(value)
        if errors:
            sentences = list(dict.fromkeys(map(str, errors)))
            raise BadAnswer(sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]")
    metadata[key] = value
