"""Questions about rights and identities."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crossply.apiserver.auth.authentication import Authenticator
from crossply.apiserver.auth.reviews import RESOURCES, Reviews
from crossply.apiserver.auth.static_tokens import StaticTokens
from crossply.apiserver.endpoints.request_info import User
from crossply.apiserver.endpoints.status_errors import StatusError
from tests.support.apiserver.rbac import (
    JANE,
    Object,
    authorizer_of,
    binding,
    cluster_role,
    role,
    rule,
    urls,
    user,
)
from tests.support.apiserver.service_accounts import ISSUER, Accounts

POLICY = (
    cluster_role("reader", rule("get list", "configmaps"), urls("get", "/metrics")),
    binding("a", "readers", "reader", user("jane"), kind="ClusterRole"),
    role("a", "one", rule("get", "secrets", names="x")),
    binding("a", "one", "one", user("jane")),
)


def _create(
    resource: str, body: Object, caller: User = JANE, namespace: str = "", accounts: Accounts | None = None,
    policy: tuple[Object, ...] = POLICY,
) -> Object:  # fmt: skip
    accounts = accounts or Accounts()
    tokens = StaticTokens({"secret": User("joe", (), "u")})
    authenticator = Authenticator(accounts.clock, tokens, accounts.tokens)
    reviews = Reviews(authenticator, authorizer_of(*policy), accounts.clock)
    (full,) = (name for name in RESOURCES if name.startswith(f"{resource}."))
    return asyncio.run(reviews.create(full, caller, namespace, body))


def _resource_attributes(verb: str, resource: str, namespace: str = "a", **more: str) -> Object:
    return {"resourceAttributes": {"verb": verb, "resource": resource, "namespace": namespace, **more}}


def test_a_self_subject_review_returns_the_requesting_user() -> None:
    caller = User("jane", ("g",), "u", {"k": ("v",)})
    assert _create("selfsubjectreviews", {"metadata": {"name": "x"}}, caller) == {
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"creationTimestamp": "2026-01-02T03:04:05Z"},
        "status": {"userInfo": {"username": "jane", "uid": "u", "groups": ["g"], "extra": {"k": ["v"]}}},
    }


def test_a_token_review_has_the_user_of_a_token() -> None:
    accounts = Accounts()
    assert _create("tokenreviews", {"spec": {"token": "secret"}})["status"] == {
        "authenticated": True,
        "user": {"username": "joe", "uid": "u", "groups": ["system:authenticated"]},
        "audiences": [ISSUER],
    }
    body = {"spec": {"token": accounts.issue(audiences=("x", "y")), "audiences": ["y", "z"]}}
    status = _create("tokenreviews", body, accounts=accounts)["status"]
    assert status["audiences"] == ["y"]
    assert status["user"]["username"] == "system:serviceaccount:a:bot"


def test_a_token_review_has_the_reason_why_a_token_is_refused() -> None:
    accounts = Accounts()
    assert _create("tokenreviews", {"spec": {"token": "bad"}})["status"] == {
        "user": {},
        "error": "invalid bearer token",
    }
    body = {"spec": {"token": accounts.issue(), "audiences": ["x"]}}
    assert _create("tokenreviews", body, accounts=accounts)["status"]["error"] == (
        f'[invalid bearer token, token audiences ["{ISSUER}"] is invalid for the target audiences ["x"]]'
    )


ACCESS = [
    (_resource_attributes("list", "configmaps"), True, "what a role grants"),
    (_resource_attributes("list", "configmaps", "b"), False, "another namespace"),
    (_resource_attributes("list", "configmaps", ""), False, "all namespaces"),
    (_resource_attributes("get", "secrets", name="x"), True, "a name that is listed"),
    (_resource_attributes("get", "secrets"), False, "any name"),
    (_resource_attributes("get", "configmaps", group="apps"), False, "another group"),
    (_resource_attributes("get", "configmaps", subresource="status"), False, "a subresource"),
    ({"resourceAttributes": {}}, False, "nothing"),
    (
        {"nonResourceAttributes": {"verb": "get", "path": "/metrics"}},
        False,
        "a path, from a namespace's binding",
    ),
]


@pytest.mark.parametrize(("spec", "allowed", "reason"), ACCESS, ids=[case[2] for case in ACCESS])
def test_access_reviews_answer(spec: Object, allowed: bool, reason: str) -> None:
    own = _create("selfsubjectaccessreviews", {"spec": spec})
    others = _create("subjectaccessreviews", {"spec": {**spec, "user": "jane"}}, User("somebody"))
    assert own["status"]["allowed"] is others["status"]["allowed"] is allowed, reason


def test_attributes_without_a_resource_are_not_a_path() -> None:
    policy = (
        cluster_role("paths", urls("*", "*")),
        {**binding("", "b", "paths", user("jane"), kind="ClusterRole"), "kind": "ClusterRoleBinding"},
    )
    answer = _create(
        "selfsubjectaccessreviews", {"spec": {"resourceAttributes": {"verb": "get"}}}, policy=policy
    )
    assert answer["status"] == {"allowed": False}


def test_an_access_review_comes_back_as_it_was_sent_with_the_answer() -> None:
    body = {
        "metadata": {"managedFields": [{}]},
        "spec": {**_resource_attributes("list", "configmaps"), "user": "jane"},
    }
    assert _create("subjectaccessreviews", body) == {
        "kind": "SubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {"managedFields": [{}]},
        "spec": body["spec"],
        "status": {
            "allowed": True,
            "reason": 'RBAC: allowed by RoleBinding "readers/a" of ClusterRole "reader" to User "jane"',
        },
    }


def test_a_local_review_is_about_its_namespace() -> None:
    spec = {**_resource_attributes("list", "configmaps"), "user": "jane"}
    answer = _create("localsubjectaccessreviews", {"spec": spec}, namespace="a")
    assert answer["metadata"] == {"namespace": "a"}
    assert answer["status"]["allowed"] is True
    with pytest.raises(StatusError) as caught:
        _create("localsubjectaccessreviews", {"spec": spec}, namespace="b")
    assert str(caught.value) == (
        '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "a": '
        "must match metadata.namespace"
    )


NONE = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
REFUSALS: list[tuple[str, Any, int, str, str]] = [
    (
        "subjectaccessreviews",
        {"spec": {}},
        422,
        f'.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: {NONE}, '
        'spec.user: Invalid value: "": at least one of user or group must be specified]',
        "an empty question",
    ),
    (
        "selfsubjectaccessreviews",
        {},
        422,
        f'.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: {NONE}',
        "no question",
    ),
    (
        "subjectaccessreviews",
        {
            "metadata": {"name": "x"},
            "spec": {
                "user": "a",
                "resourceAttributes": {"verb": "get"},
                "nonResourceAttributes": {"path": "/x", "verb": "get"},
            },
        },
        422,
        '.authorization.k8s.io "" is invalid: [spec.nonResourceAttributes: Invalid value: '
        '{"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes, '
        'metadata: Invalid value: {"name":"x"}: must be empty]',
        "two questions, and a name",
    ),
    (
        "localsubjectaccessreviews",
        {"spec": {"user": "a", "nonResourceAttributes": {"path": "/x"}}},
        422,
        '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: '
        '{"Path":"/x","Verb":""}: disallowed on this kind of request',
        "a path is in no namespace",
    ),
    ("selfsubjectrulesreviews", {"spec": {}}, 400, "no namespace on request", "rules of nowhere"),
    (
        "tokenreviews",
        {"spec": {}},
        400,
        "token is required for TokenReview in authentication",
        "no token",
    ),
    (
        "tokenreviews",
        {"spec": {"token": 5}},
        400,
        'TokenReview in version "v1" cannot be handled as a TokenReview: json: cannot unmarshal number '
        "into Go struct field TokenReviewSpec.spec.token of type string",
        "a token that is a number",
    ),
    (
        "subjectaccessreviews",
        {"spec": {"groups": "g", "resourceAttributes": {}}},
        400,
        'SubjectAccessReview in version "v1" cannot be handled as a SubjectAccessReview: json: '
        "cannot unmarshal string into Go struct field SubjectAccessReviewSpec.spec.groups of type []string",
        "groups that are a text",
    ),
]


@pytest.mark.parametrize(
    ("resource", "body", "status", "message", "reason"), REFUSALS, ids=[case[4] for case in REFUSALS]
)
def test_a_review_is_refused(resource: str, body: Object, status: int, message: str, reason: str) -> None:
    with pytest.raises(StatusError) as caught:
        _create(resource, body, namespace="a" if resource.startswith("local") else "")
    assert (caught.value.status, str(caught.value)) == (status, message), reason


@pytest.mark.parametrize("resource", [name.partition(".")[0] for name in RESOURCES])
@pytest.mark.parametrize(
    "spec", [5, [], "x", {"resourceAttributes": 5}, {"extra": {"a": "b"}}, {"token": {}}]
)
def test_no_body_breaks_the_server(resource: str, spec: Any) -> None:
    assert _status(resource, {"spec": spec}) in (201, 400, 422)


def _status(resource: str, body: Object) -> int:
    try:
        _create(resource, body, namespace="a")
    except StatusError as refusal:
        return refusal.status
    return 201


def test_a_rules_review_lists_the_permissions_in_a_namespace() -> None:
    dangling = binding("a", "d", "nothere", user("jane"))
    answer = _create("selfsubjectrulesreviews", {"spec": {"namespace": "a"}}, policy=(*POLICY, dangling))
    assert answer == {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": {},
        "status": {
            "resourceRules": [
                {"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["x"]},
                {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]},
            ],
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/metrics"]}],
            "incomplete": False,
            "evaluationError": 'role.rbac.authorization.k8s.io "nothere" not found',
        },
    }
