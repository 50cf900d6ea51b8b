"""Authentication: tokens, certificates, impersonation, service accounts and reviews of them."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import base64
import json
import time

import pytest

from tests.support.api.collection import Collection
from tests.support.api.polling import eventually

AUTHN, AUTHZ = "/apis/authentication.k8s.io/v1", "/apis/authorization.k8s.io/v1"


def user_info(client):
    return client.post(
        f"{AUTHN}/selfsubjectreviews", {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    ).ok(201)["status"]["userInfo"]


def test_a_wrong_token_is_unauthorized(admin):
    stranger = admin.with_token("wrong")
    stranger.get("/api/v1/namespaces").refused(401, "Unauthorized", "Unauthorized")
    stranger.close()


def test_anonymous_requests_for_objects_are_unauthorized(admin):
    nobody = admin.with_token("")
    assert nobody.get("/api/v1/namespaces").status in (401, 403)
    nobody.close()


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_anonymous_requests_for_health_are_allowed(admin, path):
    nobody = admin.with_token("")
    assert nobody.get(path).status == 200
    nobody.close()


def test_a_token_names_its_user(alice):
    user = user_info(alice)
    assert user["username"] == "alice"
    assert "system:authenticated" in user["groups"]


def test_a_certificate_names_its_user(admin, server):
    if server.certificate is None:
        pytest.skip("this server has made no certificate for clients")
    shown = admin.with_certificate(*server.certificate)
    assert "system:masters" in user_info(shown)["groups"]
    shown.close()


def test_impersonating_a_user(admin):
    user = user_info(admin.acting_as("jane", "devs", "ops"))
    assert user["username"] == "jane"
    assert sorted(user["groups"]) == ["devs", "ops", "system:authenticated"]


def test_acting_with_extra_and_uid(admin):
    user = user_info(admin.acting_as("jane", Impersonate_Uid="u1", Impersonate_Extra_scopes="a"))
    assert user["uid"] == "u1"
    assert user["extra"] == {"scopes": ["a"]}


def test_acting_as_a_service_account(admin):
    user = user_info(admin.acting_as("system:serviceaccount:x:y"))
    assert sorted(user["groups"]) == [
        "system:authenticated",
        "system:serviceaccounts",
        "system:serviceaccounts:x",
    ]


def test_impersonating_an_empty_user(admin):
    answer = admin.acting_as("system:anonymous").get("/api/v1/namespaces")
    assert answer.status == 403
    assert 'User "system:anonymous" cannot list resource "namespaces"' in answer.message


def test_not_everybody_may_act_as_others(alice):
    answer = alice.get("/api/v1/namespaces", headers={"Impersonate-User": "admin"})
    answer.refused(
        403,
        "Forbidden",
        'namespaces is forbidden: User "alice" cannot impersonate-on:user-info:list resource "namespaces" in API group '
        '"" at the cluster scope',
    )


def test_a_group_alone_cannot_be_acted_as(admin):
    answer = admin.get("/api/v1/namespaces", headers={"Impersonate-Group": "devs"})
    assert answer.status in (400, 403, 500)
    assert "without impersonating a user" in answer.message


def test_impersonation_may_be_granted_by_name(bob, admin, grants):
    rules = [{"apiGroups": [""], "resources": ["users"], "resourceNames": ["jane"], "verbs": ["impersonate"]}]
    subject = Collection(admin, "v1", "ServiceAccount", "serviceaccounts", grants.ns)
    subject.create("robot")
    token = request_token(subject)
    role = grants.cluster_role(rules)
    grants.bind_everywhere(f"system:serviceaccount:{grants.ns}:robot", role)
    robot = admin.with_token(token)
    eventually(lambda: robot.get("/version", headers={"Impersonate-User": "jane"}).status == 200)
    assert robot.get("/version", headers={"Impersonate-User": "joe"}).status == 403
    robot.close()


def request_token(accounts, name="robot", **spec):
    body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": spec}
    created = accounts.client.post(accounts.at(name, "token"), body).ok(201)
    return created["status"]["token"]


@pytest.fixture
def accounts(admin, ns):
    collection = Collection(admin, "v1", "ServiceAccount", "serviceaccounts", ns)
    collection.create("robot")
    return collection


def claims(token):
    middle = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))


def test_a_token_of_an_account_names_it(admin, accounts, ns):
    robot = admin.with_token(request_token(accounts))
    user = user_info(robot)
    assert user["username"] == f"system:serviceaccount:{ns}:robot"
    assert sorted(user["groups"]) == [
        "system:authenticated",
        "system:serviceaccounts",
        f"system:serviceaccounts:{ns}",
    ]
    assert user["uid"] == accounts.read("robot")["metadata"]["uid"]
    robot.close()


def test_the_claims_of_a_token(accounts, ns):
    claims_ = claims(request_token(accounts, expirationSeconds=1200))
    assert claims_["sub"] == f"system:serviceaccount:{ns}:robot"
    assert claims_["kubernetes.io"]["namespace"] == ns
    assert claims_["kubernetes.io"]["serviceaccount"]["name"] == "robot"
    assert 1100 < claims_["exp"] - time.time() < 1300


def test_a_token_for_an_audience_is_not_for_the_server(admin, accounts):
    robot = admin.with_token(request_token(accounts, audiences=["elsewhere"]))
    assert robot.get("/version").status == 401
    robot.close()


def test_a_token_ends_with_its_account(admin, accounts):
    robot = admin.with_token(request_token(accounts))
    assert robot.get("/version").status == 200
    accounts.delete("robot").ok(200)
    eventually(lambda: robot.get("/version").status == 401)
    robot.close()


def test_a_token_bound_to_an_object_ends_with_it(admin, accounts, ns):
    secrets = Collection(admin, "v1", "Secret", "secrets", ns)
    created = secrets.create("bound")
    reference = {"kind": "Secret", "apiVersion": "v1", "name": "bound", "uid": created["metadata"]["uid"]}
    robot = admin.with_token(request_token(accounts, boundObjectRef=reference))
    assert robot.get("/version").status == 200
    secrets.delete("bound").ok(200)
    eventually(lambda: robot.get("/version").status == 401)
    robot.close()


def test_a_token_lasts_ten_minutes_at_least(accounts):
    body = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "spec": {"expirationSeconds": 5},
    }
    answer = accounts.client.post(accounts.at("robot", "token"), body)
    assert answer.status == 422
    assert answer.causes[0]["message"].endswith("may not specify a duration less than 10 minutes")


def test_a_token_of_an_account_that_is_not_there(accounts):
    body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}}
    answer = accounts.client.post(accounts.at("nobody", "token"), body)
    answer.refused(404, "NotFound", 'serviceaccounts "nobody" not found')


def test_a_tampered_token_is_unauthorized(admin, accounts):
    head, body, signature = request_token(accounts).split(".")
    changed = claims(f"{head}.{body}.{signature}")
    changed["sub"] = "system:serviceaccount:kube-system:default"
    forged = base64.urlsafe_b64encode(json.dumps(changed).encode()).rstrip(b"=").decode()
    robot = admin.with_token(f"{head}.{forged}.{signature}")
    assert robot.get("/version").status == 401
    robot.close()


def test_a_token_review_returns_the_user_of_the_token(admin, accounts, ns):
    spec = {"token": request_token(accounts)}
    status = admin.post(f"{AUTHN}/tokenreviews", {"spec": spec}).ok(201)["status"]
    assert status["authenticated"] is True
    assert status["user"]["username"] == f"system:serviceaccount:{ns}:robot"


def test_a_token_review_of_a_wrong_token(admin):
    status = admin.post(f"{AUTHN}/tokenreviews", {"spec": {"token": "wrong"}}).ok(201)["status"]
    assert not status.get("authenticated")
    assert status["user"] == {}


def access(client, kind, spec):
    return client.post(f"{AUTHZ}/{kind}", {"spec": spec}).ok(201)["status"]


def test_a_self_access_review(admin, alice, ns):
    attributes = {"resourceAttributes": {"namespace": ns, "verb": "get", "resource": "pods"}}
    assert access(admin, "selfsubjectaccessreviews", attributes)["allowed"] is True
    assert access(alice, "selfsubjectaccessreviews", attributes)["allowed"] is False


def test_an_access_review_about_another_user(admin, ns):
    request = {
        "user": "jane",
        "groups": ["system:masters"],
        "resourceAttributes": {"namespace": ns, "verb": "get", "resource": "pods"},
    }
    assert access(admin, "subjectaccessreviews", request)["allowed"] is True
    del request["groups"]
    assert access(admin, "subjectaccessreviews", request) == {"allowed": False}


def test_an_access_review_about_a_path(admin):
    attributes = {"user": "jane", "nonResourceAttributes": {"path": "/metrics", "verb": "get"}}
    assert access(admin, "subjectaccessreviews", attributes) == {"allowed": False}


def test_an_access_review_names_the_role_that_allows(admin, grants, bob, ns):
    grants.role("reader", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}])
    grants.bind(bob.name, "reader")
    attributes = {
        "user": bob.name,
        "resourceAttributes": {"namespace": ns, "verb": "get", "resource": "pods"},
    }
    message = eventually(lambda: (s := access(admin, "subjectaccessreviews", attributes))["allowed"] and s)
    assert message["reason"].startswith("RBAC: allowed by RoleBinding ")
    assert message["reason"].endswith(f'of Role "reader" to User "{bob.name}"')


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"user": "x"}, "spec.resourceAttributes"),
        ({"resourceAttributes": {"verb": "get"}}, "spec.user"),
        (
            {"user": "x", "resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"verb": "get"}},
            "spec.nonResourceAttributes",
        ),
    ],
)
def test_bad_access_reviews_are_refused(admin, spec, field):
    answer = admin.post(f"{AUTHZ}/subjectaccessreviews", {"spec": spec})
    assert answer.status == 422
    assert field in [cause["field"] for cause in answer.causes]


def test_a_local_access_review(admin, ns):
    request = {
        "spec": {"user": "jane", "resourceAttributes": {"namespace": ns, "verb": "get", "resource": "pods"}}
    }
    path = f"{AUTHZ}/namespaces/{ns}/localsubjectaccessreviews"
    assert admin.post(path, request).ok(201)["status"]["allowed"] is False


def test_the_rules_of_a_user(bob, grants, ns):
    grants.role("reader", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}])
    grants.bind(bob.name, "reader")

    def rules():
        return access(bob, "selfsubjectrulesreviews", {"namespace": ns})["resourceRules"]

    eventually(lambda: {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]} in rules())


def test_reviews_cannot_be_read(admin):
    answer = admin.get(f"{AUTHN}/tokenreviews")
    assert answer.status == 405
