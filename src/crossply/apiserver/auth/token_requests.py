"""The `token` subresource of service accounts: answers a TokenRequest with a token."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import orjson

from crossply.apiserver.auth.review_field_types import check_types, known_fields
from crossply.apiserver.auth.service_account_tokens import AccountTokens
from crossply.apiserver.auth.store_protocols import ReadableStore
from crossply.apiserver.endpoints.status_errors import Cause, bad_request, conflict, invalid, not_found
from crossply.values import Object
from crossply.values.api_version import api_group, format_kind
from crossply.values.goquote import quote
from crossply.values.timestamps import format_timestamp

_GROUP = "authentication.k8s.io"
_KIND = "TokenRequest"
_HOUR = 3600
_SHORTEST, _LONGEST = 600, 1 << 32
_BINDABLE = {"Pod": "pods", "Node": "nodes", "Secret": "secrets"}


class TokenRequests:
    def __init__(self, store: ReadableStore, accounts: AccountTokens, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._accounts = accounts
        self._clock = clock

    async def create(self, namespace: str, name: str, body: Object) -> Object:
        """The TokenRequest with the token in its status."""
        check_types(_KIND, body)
        body = known_fields(_KIND, body)
        metadata, spec = body.get("metadata") or {}, body.get("spec") or {}
        _check_names(namespace, name, metadata)
        account = self._load("serviceaccounts", namespace, name)
        _check_uid(name, metadata, account["metadata"]["uid"])
        audiences = spec.get("audiences") or list(self._accounts.audiences)
        seconds = _seconds(spec)
        bound = self._bound(namespace, name, spec.get("boundObjectRef"))
        now = self._clock()
        token = self._accounts.issue(account, seconds, audiences, bound)
        return {
            "kind": _KIND,
            "apiVersion": f"{_GROUP}/v1",
            "metadata": {
                **metadata,
                "name": name,
                "namespace": namespace,
                "uid": account["metadata"]["uid"],
                "creationTimestamp": format_timestamp(now),
            },
            "spec": {
                "audiences": audiences,
                "expirationSeconds": seconds,
                "boundObjectRef": spec.get("boundObjectRef"),
            },
            "status": {
                "token": token,
                "expirationTimestamp": format_timestamp(now + timedelta(seconds=seconds)),
            },
        }

    def _load(self, resource: str, namespace: str, name: str) -> Object:
        entry = self._store.get((resource, namespace, name))
        if entry is None:
            raise not_found(resource, "", name)
        body: Object = orjson.loads(entry.data)
        return body

    def _bound(self, namespace: str, account: str, reference: Object | None) -> Object:
        """The claims that bind the token to an object; it becomes invalid with the object."""
        if not reference:
            return {}
        api_version, kind = reference.get("apiVersion", ""), reference.get("kind", "")
        if api_group(api_version) or kind not in _BINDABLE:
            raise bad_request(f"cannot bind token to object of type {format_kind(api_version, kind)}")
        home = "" if kind == "Node" else namespace
        bound = self._load(_BINDABLE[kind], home, reference.get("name", ""))
        node = _node_of_pod(account, bound) if kind == "Pod" else ""
        _check_reference(kind, reference, bound["metadata"]["uid"])
        return {kind.lower(): _claim(bound), **self._node_claim(node)}

    def _node_claim(self, name: str) -> Object:
        if not name:
            return {}
        entry = self._store.get(("nodes", "", name))
        return {"node": _claim(orjson.loads(entry.data)) if entry is not None else {"name": name}}


def _check_names(namespace: str, name: str, metadata: Object) -> None:
    for field, expected in (("name", name), ("namespace", namespace)):
        name_in_body = metadata.get(field)
        if name_in_body and name_in_body != expected:
            why = f"Invalid value: {quote(name_in_body)}: must match the service account {field} if specified"
            raise invalid(_KIND, _GROUP, name, [Cause("FieldValueInvalid", why, f"metadata.{field}")])


def _check_uid(name: str, metadata: Object, uid: str) -> None:
    expected = metadata.get("uid")
    if expected and expected != uid:
        why = (
            f"the UID in the token request ({expected}) does not match the UID of the service account ({uid})"
        )
        raise conflict(_KIND, _GROUP, name, why)


def _seconds(spec: Object) -> int:
    seconds: int | None = spec.get("expirationSeconds")
    if seconds is None:
        return _HOUR
    why = ""
    if seconds < _SHORTEST:
        why = "may not specify a duration less than 10 minutes"
    elif seconds > _LONGEST:
        why = "may not specify a duration larger than 2^32 seconds"
    if why:
        cause = Cause("FieldValueInvalid", f"Invalid value: {seconds}: {why}", "spec.expirationSeconds")
        raise invalid(_KIND, _GROUP, "", [cause])
    return seconds


def _node_of_pod(account: str, pod: Object) -> str:
    spec = pod.get("spec") or {}
    if spec.get("serviceAccountName", "") != account:
        raise bad_request(
            f"cannot bind token for serviceaccount {quote(account)} to pod running with different "
            "serviceaccount name."
        )
    node: str = spec.get("nodeName", "")
    return node


def _check_reference(kind: str, reference: Object, uid: str) -> None:
    expected = reference.get("uid")
    if expected and expected != uid:
        why = (
            f"the UID in the bound object reference ({expected}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise conflict(kind, "", reference.get("name", ""), why)


def _claim(body: Object) -> Object:
    return {"name": body["metadata"]["name"], "uid": body["metadata"]["uid"]}
