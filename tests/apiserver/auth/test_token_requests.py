"""The token subresource of service accounts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crossply.apiserver.auth.token_requests import TokenRequests
from crossply.apiserver.endpoints.status_errors import StatusError
from tests.support.apiserver.service_accounts import ISSUER, Accounts


def _ask(accounts: Accounts, body: dict[str, Any], name: str = "bot") -> dict[str, Any]:
    requests = TokenRequests(accounts.store, accounts.tokens, accounts.clock)
    return asyncio.run(requests.create("a", name, body))


def test_an_empty_request_gives_a_token_of_an_hour_for_the_server() -> None:
    accounts = Accounts()
    answer = _ask(accounts, {})
    token = answer["status"].pop("token")
    assert answer == {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": "bot",
            "namespace": "a",
            "uid": "uid-1",
            "creationTimestamp": "2026-01-02T03:04:05Z",
        },
        "spec": {"audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": None},
        "status": {"expirationTimestamp": "2026-01-02T04:04:05Z"},
    }
    assert accounts.tokens.authenticate(token)


def test_audiences_and_expiry_are_as_requested() -> None:
    accounts = Accounts()
    answer = _ask(accounts, {"spec": {"audiences": ["vault"], "expirationSeconds": 600}})
    assert answer["status"]["expirationTimestamp"] == "2026-01-02T03:14:05Z"
    identity = accounts.tokens.authenticate(answer["status"]["token"], ["vault", "x"])
    assert identity is not None
    assert identity.audiences == ("vault",)


def _reference(kind: str = "Pod", **more: str) -> dict[str, Any]:
    return {"spec": {"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": "x", **more}}}


REFUSALS = [
    ("none", {}, 404, 'serviceaccounts "none" not found', "the account"),
    (
        "bot",
        {"spec": {"expirationSeconds": 5}},
        422,
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: '
        "may not specify a duration less than 10 minutes",
        "too short",
    ),
    (
        "bot",
        {"spec": {"expirationSeconds": 2**32 + 1}},
        422,
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: '
        "4294967297: may not specify a duration larger than 2^32 seconds",
        "too long",
    ),
    (
        "bot",
        {"spec": {"expirationSeconds": "5"}},
        400,
        'TokenRequest in version "v1" cannot be handled as a TokenRequest: json: cannot unmarshal string '
        "into Go struct field TokenRequestSpec.spec.expirationSeconds of type int64",
        "a text for a number",
    ),
    (
        "bot",
        {"metadata": {"name": "other"}},
        422,
        'TokenRequest.authentication.k8s.io "bot" is invalid: metadata.name: Invalid value: "other": '
        "must match the service account name if specified",
        "another name",
    ),
    (
        "bot",
        {"metadata": {"namespace": "other"}},
        422,
        'TokenRequest.authentication.k8s.io "bot" is invalid: metadata.namespace: Invalid value: "other": '
        "must match the service account namespace if specified",
        "another namespace",
    ),
    (
        "bot",
        {"metadata": {"uid": "other"}},
        409,
        'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "bot": the UID in the token '
        "request (other) does not match the UID of the service account (uid-1)",
        "another account of that name",
    ),
    ("bot", _reference(), 404, 'pods "x" not found', "what it is to be bound to"),
    (
        "bot",
        _reference("ConfigMap"),
        400,
        "cannot bind token to object of type /v1, Kind=ConfigMap",
        "a kind that tokens cannot be bound to",
    ),
]


@pytest.mark.parametrize(
    ("name", "body", "status", "message", "reason"), REFUSALS, ids=[case[4] for case in REFUSALS]
)
def test_a_request_is_refused(
    name: str, body: dict[str, Any], status: int, message: str, reason: str
) -> None:
    with pytest.raises(StatusError) as caught:
        _ask(Accounts(), body, name)
    assert (caught.value.status, str(caught.value)) == (status, message), reason


def test_a_token_is_bound_to_the_pod_that_runs_as_the_account_and_names_its_node() -> None:
    accounts = Accounts()
    accounts.store.put("pods", "a", "x", "u", spec={"serviceAccountName": "bot", "nodeName": "n"})
    identity = accounts.tokens.authenticate(_ask(accounts, _reference())["status"]["token"])
    assert identity is not None
    assert identity.user.extra is not None
    assert identity.user.extra["authentication.kubernetes.io/pod-name"] == ("x",)
    assert identity.user.extra["authentication.kubernetes.io/node-name"] == ("n",)


def test_a_token_is_not_bound_to_a_foreign_or_an_earlier_pod() -> None:
    accounts = Accounts()
    accounts.store.put("pods", "a", "x", "u", spec={"serviceAccountName": "other"})
    with pytest.raises(StatusError, match='cannot bind token for serviceaccount "bot" to pod running with'):
        _ask(accounts, _reference())
    accounts.store.put("pods", "a", "x", "u", spec={"serviceAccountName": "bot"})
    with pytest.raises(StatusError, match=r"the UID in the bound object reference \(old\) does not match"):
        _ask(accounts, _reference(uid="old"))
