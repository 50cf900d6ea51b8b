"""AdmissionReviews: the request to a webhook, and its validated response."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from crossply.apiserver.admission.admission_request import describe
from crossply.apiserver.admission.attributes import Attributes
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.stored_object_codec import to_json
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.api_version import format_kind
from crossply.values.gojson import JsonError, loads
from crossply.values.goquote import quote

VERSIONS = ("v1", "v1beta1")
_GROUP = "admission.k8s.io"
_HEADER = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'
)


class CallFailed(CrossplyError):
    """A webhook could not be called, or its response is invalid; its failure policy applies."""

    code = "CP-681"


def review_version(accepted: Iterable[str]) -> str:
    """The first AdmissionReview version that both the webhook and the server support."""
    for version in accepted:
        if version in VERSIONS:
            return version
    raise CallFailed(
        "could not create admission objects: webhook does not accept known AdmissionReview versions "
        "(v1, v1beta1)"
    )


def make_review(write: Attributes, version: str, review: str, uid: str) -> bytes:
    """The review of a write, with its objects at the version that the webhook matched."""
    request = {
        "uid": uid,
        **describe(write, version),
        "object": write.obj if write.operation != "DELETE" else None,
        "oldObject": write.old,
    }
    return to_json({"kind": "AdmissionReview", "apiVersion": f"{_GROUP}/{review}", "request": request})


@dataclass(frozen=True, slots=True)
class AdmissionResponse:
    """The response of a webhook."""

    allowed: bool
    status: Object | None
    warnings: tuple[str, ...]
    patch: list[Any]


def read_review(body: bytes, uid: str, review: str, *, mutating: bool) -> AdmissionResponse:
    """Parse and validate the response of a webhook; raises CallFailed."""
    answer = _parsed(body)
    response = answer.get("response")
    if not isinstance(response, dict):
        raise _invalid("webhook response was absent")
    if review == "v1":
        _check(answer, response, uid)
    patch = _patch(response, review) if mutating else _no_patch(response, review)
    warnings = response.get("warnings") or ()
    status = response.get("status")
    return AdmissionResponse(
        response.get("allowed") is True,
        status if isinstance(status, dict) else None,
        tuple(warning for warning in warnings if isinstance(warning, str)),
        patch,
    )


def _parsed(body: bytes) -> Object:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        # Go then reads it as YAML, where most of what is not JSON is a string.
        answer = ""
    if not isinstance(answer, dict):
        json_type = "array" if isinstance(answer, list) else "string" if isinstance(answer, str) else "number"
        raise CallFailed(
            "failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal "
            f"{json_type} into Go value of type {_HEADER}"
        )
    kind = answer.get("kind") or "AdmissionReview"
    if kind != "AdmissionReview":
        version = quote(str(answer.get("apiVersion", "")))
        raise CallFailed(
            f"failed to call webhook: no kind {quote(str(kind))} is registered for version {version} in "
            'scheme "pkg/runtime/scheme.go:111"'
        )
    return answer


def _check(answer: Object, response: Object, uid: str) -> None:
    actual_uid = response.get("uid", "")
    if actual_uid != uid:
        raise _invalid(f"expected response.uid={quote(uid)}, got {quote(str(actual_uid))}")
    if answer.get("apiVersion") != f"{_GROUP}/v1" or answer.get("kind") != "AdmissionReview":
        actual = format_kind(str(answer.get("apiVersion", "")), answer.get("kind", ""))
        raise _invalid(f"expected webhook response of {_GROUP}/v1, Kind=AdmissionReview, got {actual}")


def _no_patch(response: Object, review: str) -> list[Any]:
    if review == "v1":
        if response.get("patch"):
            raise _invalid("validating webhook may not return response.patch")
        if response.get("patchType") is not None:
            raise _invalid("validating webhook may not return response.patchType")
    return []


def _patch(response: Object, review: str) -> list[Any]:
    encoded, kind = response.get("patch"), response.get("patchType")
    if review == "v1":
        if encoded and kind is None:
            raise _invalid("webhook returned response.patch but not response.patchType")
        if not encoded and kind is not None:
            raise _invalid("webhook returned response.patchType but not response.patch")
        if kind == "":
            raise _invalid('webhook returned invalid response.patchType of ""')
    if not encoded or response.get("allowed") is not True:
        return []
    if kind not in (None, "JSONPatch"):
        raise CallFailed(f"unsupported patch type {quote(str(kind))}")
    return _operations(encoded)


def _operations(encoded: Any) -> list[Any]:
    try:
        operations = loads(base64.b64decode(encoded, validate=True).decode())
    except (binascii.Error, TypeError, ValueError, JsonError) as problem:
        raise CallFailed(f"received undecodable patch in webhook response: {problem}") from None
    if not isinstance(operations, list):
        raise CallFailed("received undecodable patch in webhook response: not a list of operations")
    return operations


def _invalid(why: str) -> CallFailed:
    return CallFailed(f"received invalid webhook response: {why}")


def denial(webhook: str, status: Object | None) -> StatusError:
    """The error for a request that a webhook denied, with the status that it returned."""
    status = status or {}
    code = status.get("code")
    code = code if isinstance(code, int) and code >= 400 else 400
    reason = str(status.get("reason") or "")
    why = status.get("message") or reason
    refusal_text = f"admission webhook {quote(webhook)} denied the request"
    message = f"{refusal_text}: {why}" if why else f"{refusal_text} without explanation"
    refusal = StatusError(code, reason, message)
    details = status.get("details")
    if isinstance(details, dict):
        refusal.details.update(details)
    return refusal
