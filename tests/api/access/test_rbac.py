"""RBAC: nothing is allowed that was not granted, and no user can grant more than they have."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import pytest

from tests.support.api.grants import GROUP, RBAC
from tests.support.api.polling import eventually

READ = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        (
            "GET",
            "/api/v1/namespaces/NS/secrets/s",
            'secrets "s" is forbidden: User "alice" cannot get resource "secrets" in API group "" in the namespace "NS"',
        ),
        (
            "GET",
            "/api/v1/namespaces/NS/secrets",
            'secrets is forbidden: User "alice" cannot list resource "secrets" in API group "" in the namespace "NS"',
        ),
        (
            "GET",
            "/api/v1/secrets",
            'secrets is forbidden: User "alice" cannot list resource "secrets" in API group "" at the cluster scope',
        ),
        (
            "GET",
            "/api/v1/secrets?watch=true",
            'secrets is forbidden: User "alice" cannot watch resource "secrets" in API group "" at the cluster scope',
        ),
        (
            "POST",
            "/apis/apps/v1/namespaces/NS/deployments",
            'deployments.apps is forbidden: User "alice" cannot create resource "deployments" in API group "apps" in the namespace "NS"',
        ),
        (
            "PUT",
            "/apis/apps/v1/namespaces/NS/deployments/d",
            'deployments.apps "d" is forbidden: User "alice" cannot update resource "deployments" in API group "apps" in the namespace "NS"',
        ),
        (
            "PATCH",
            "/apis/apps/v1/namespaces/NS/deployments/d/status",
            'deployments.apps "d" is forbidden: User "alice" cannot patch resource "deployments/status" in API group "apps" in the namespace "NS"',
        ),
        (
            "DELETE",
            "/api/v1/namespaces/NS/configmaps/c",
            'configmaps "c" is forbidden: User "alice" cannot delete resource "configmaps" in API group "" in the namespace "NS"',
        ),
        (
            "DELETE",
            "/api/v1/namespaces/NS/configmaps",
            'configmaps is forbidden: User "alice" cannot deletecollection resource "configmaps" in API group "" in the namespace "NS"',
        ),
        (
            "GET",
            "/api/v1/namespaces/NS",
            'namespaces "NS" is forbidden: User "alice" cannot get resource "namespaces" in API group "" in the namespace "NS"',
        ),
        ("GET", "/metrics", 'forbidden: User "alice" cannot get path "/metrics"'),
        (
            "GET",
            "/apis/no.such.group/v1/things",
            'things.no.such.group is forbidden: User "alice" cannot list resource "things" in API group "no.such.group" at the cluster scope',
        ),
    ],
    ids=lambda value: value[:40],
)
def test_a_request_without_a_grant_is_refused(alice, ns, method, path, message):
    answer = alice.request(method, path.replace("NS", ns), {} if method in ("POST", "PUT", "PATCH") else None)
    answer.refused(403, "Forbidden", message.replace("NS", ns))


def test_the_details_name_the_refused_resource(alice, ns):
    message = alice.get(f"/apis/apps/v1/namespaces/{ns}/deployments/d").json
    assert message["details"] == {"name": "d", "group": "apps", "kind": "deployments"}


@pytest.mark.parametrize(
    "path", ["/api", "/apis", "/version", "/openapi/v2", "/openapi/v3", "/healthz", "/readyz", "/livez"]
)
def test_every_user_may_discover(alice, path):
    assert alice.get(path).status == 200


def test_a_role_grants_in_its_namespace(bob, grants, ns):
    grants.role("reader", READ)
    grants.bind(bob.name, "reader")
    eventually(lambda: bob.get(f"/api/v1/namespaces/{ns}/configmaps").status == 200)
    assert bob.get("/api/v1/namespaces/default/configmaps").status == 403
    assert bob.post(f"/api/v1/namespaces/{ns}/configmaps", {"metadata": {"name": "x"}}).status == 403


def test_a_cluster_role_bound_in_a_namespace_grants_there(bob, grants, ns):
    grants.bind(bob.name, grants.cluster_role(READ), "ClusterRole")
    eventually(lambda: bob.get(f"/api/v1/namespaces/{ns}/configmaps").status == 200)
    assert bob.get("/api/v1/configmaps").status == 403


def test_a_cluster_role_bound_everywhere_grants_everywhere(bob, grants):
    grants.bind_everywhere(bob.name, grants.cluster_role(READ))
    eventually(lambda: bob.get("/api/v1/configmaps").status == 200)


def test_a_grant_may_name_objects(bob, grants, ns, configmaps):
    configmaps.create("mine")
    configmaps.create("other")
    grants.role(
        "one",
        [
            {
                "apiGroups": [""],
                "resources": ["configmaps"],
                "resourceNames": ["mine"],
                "verbs": ["get", "delete"],
            }
        ],
    )
    grants.bind(bob.name, "one")
    eventually(lambda: bob.get(f"/api/v1/namespaces/{ns}/configmaps/mine").status == 200)
    assert bob.get(f"/api/v1/namespaces/{ns}/configmaps/other").status == 403
    assert bob.get(f"/api/v1/namespaces/{ns}/configmaps").status == 403


def test_a_named_grant_lets_list_by_that_name(bob, grants, ns, configmaps):
    configmaps.create("mine")
    grants.role(
        "one",
        [{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["mine"], "verbs": ["list"]}],
    )
    grants.bind(bob.name, "one")
    path = f"/api/v1/namespaces/{ns}/configmaps"
    eventually(lambda: bob.get(path, fieldSelector="metadata.name=mine").status == 200)
    assert bob.get(path).status == 403


def test_a_subresource_is_granted_apart(bob, grants, widgets):
    group = widgets.api_version.partition("/")[0]
    widgets.create("one")
    grants.role(
        "status", [{"apiGroups": [group], "resources": ["widgets/status"], "verbs": ["get", "patch"]}]
    )
    grants.bind(bob.name, "status")
    other_users = widgets.with_client(bob)
    eventually(lambda: other_users.get("one", "status").status == 200)
    assert other_users.get("one").status == 403
    other_users.merge("one", {"status": {"phase": "x"}}, "status").ok(200)


def test_wildcards_grant_all(bob, grants, ns):
    grants.role("all", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])
    grants.bind(bob.name, "all")
    eventually(lambda: bob.get(f"/api/v1/namespaces/{ns}/secrets").status == 200)
    bob.post(f"/api/v1/namespaces/{ns}/configmaps", {"metadata": {"name": "x"}}).ok(201)
    assert bob.get("/api/v1/nodes").status == 403


@pytest.mark.parametrize("plural", ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"])
def test_all_rights_in_a_namespace_do_not_choose_where_webhooks_point(bob, grants, ns, plural):
    grants.role("all", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])
    grants.bind(bob.name, "all")
    eventually(lambda: bob.get(f"/api/v1/namespaces/{ns}/secrets").status == 200)
    path, body = f"/apis/admissionregistration.k8s.io/v1/{plural}", {"metadata": {"name": ns}}
    assert bob.post(path, body).status == 403
    assert bob.put(f"{path}/{ns}", body).status == 403
    assert bob.patch(f"{path}/{ns}", {"webhooks": []}).status == 403


def test_paths_are_granted_by_cluster_roles(bob, grants):
    grants.bind_everywhere(
        bob.name, grants.cluster_role([{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}])
    )
    eventually(lambda: bob.get("/metrics").status == 200)


def test_a_removed_binding_takes_the_grant_away(admin, bob, grants, ns):
    grants.role("reader", READ)
    grants.bind(bob.name, "reader")
    eventually(lambda: bob.get(f"/api/v1/namespaces/{ns}/configmaps").status == 200)
    admin.delete(f"{RBAC}/namespaces/{ns}/rolebindings").ok(200)
    eventually(lambda: bob.get(f"/api/v1/namespaces/{ns}/configmaps").status == 403)


def test_groups_are_granted(admin, grants, ns):
    grants.role("reader", READ)
    body = grants.binding("x", "reader", "Role")
    body["subjects"] = [{"kind": "Group", "name": f"team-{ns}", "apiGroup": GROUP}]
    admin.post(f"{RBAC}/namespaces/{ns}/rolebindings", body).ok(201)
    member = admin.acting_as("carol", f"team-{ns}")
    eventually(lambda: member.get(f"/api/v1/namespaces/{ns}/configmaps").status == 200)
    member.close()


def editor(grants, bob, verbs=("create", "update", "patch", "get")):
    rules = [{"apiGroups": [GROUP], "resources": ["roles", "rolebindings"], "verbs": list(verbs)}]
    grants.role("editor", rules)
    grants.bind(bob.name, "editor")


def test_no_user_writes_a_role_beyond_their_own_rights(bob, grants, ns):
    editor(grants, bob)
    body = {"metadata": {"name": "more"}, "rules": READ}
    answer = eventually(
        lambda: (
            (a := bob.post(f"{RBAC}/namespaces/{ns}/roles", body)).message.startswith("roles")
            and "attempting" in a.message
            and a
        )
    )
    assert answer.status == 403
    assert answer.message == (
        f'roles.{GROUP} "more" is forbidden: user "{bob.name}" (groups=["system:authenticated"]) is attempting to grant '
        'RBAC permissions not currently held:\n{APIGroups:[""], Resources:["configmaps"], Verbs:["get" "list" "watch"]}'
    )


def test_a_role_within_ones_own_rights_may_be_written(bob, grants, ns):
    editor(grants, bob)
    grants.role("reader", READ)
    grants.bind(bob.name, "reader")
    body = {"metadata": {"name": "same"}, "rules": READ}
    eventually(lambda: bob.post(f"{RBAC}/namespaces/{ns}/roles", body).status == 201)


def test_escalate_lets_write_any_role(bob, grants, ns):
    editor(grants, bob, ("create", "escalate"))
    body = {"metadata": {"name": "more"}, "rules": READ}
    eventually(lambda: bob.post(f"{RBAC}/namespaces/{ns}/roles", body).status == 201)


def test_no_user_binds_a_role_beyond_their_own_rights(bob, grants, ns):
    editor(grants, bob)
    grants.role("reader", READ)
    body = grants.binding("someone", "reader", "Role")
    answer = eventually(
        lambda: (
            (a := bob.post(f"{RBAC}/namespaces/{ns}/rolebindings", body)).status == 403
            and "attempting" in a.message
            and a
        )
    )
    assert answer.message == (
        f'rolebindings.{GROUP} "{body["metadata"]["name"]}" is forbidden: user "{bob.name}" '
        '(groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
        '{APIGroups:[""], Resources:["configmaps"], Verbs:["get" "list" "watch"]}'
    )


def test_bind_lets_bind_any_role(bob, grants, ns):
    editor(grants, bob, ("create", "bind"))
    grants.role("reader", READ)
    body = grants.binding("someone", "reader", "Role")
    eventually(lambda: bob.post(f"{RBAC}/namespaces/{ns}/rolebindings", body).status == 201)


def test_a_binding_of_a_role_that_is_not_there(bob, grants, ns):
    editor(grants, bob)
    body = grants.binding("someone", "never", "Role")
    answer = eventually(
        lambda: (a := bob.post(f"{RBAC}/namespaces/{ns}/rolebindings", body)).status == 404 and a
    )
    assert answer.message == f'rolebindings.{GROUP} "never" not found'


def test_the_role_of_a_binding_cannot_change(admin, grants, ns):
    grants.role("a", READ)
    body = grants.binding("x", "a", "Role")
    path = f"{RBAC}/namespaces/{ns}/rolebindings"
    admin.post(path, body).ok(201)
    answer = admin.patch(f"{path}/{body['metadata']['name']}", {"roleRef": {"name": "b"}})
    assert answer.status == 422
    assert answer.causes[0]["field"] == "roleRef"
    assert answer.causes[0]["message"].endswith("cannot change roleRef")


def test_cluster_roles_are_aggregated(admin, grants, ns):
    complete = grants.cluster_role(
        [], aggregationRule={"clusterRoleSelectors": [{"matchLabels": {f"x/{ns}": "true"}}]}
    )
    part = grants.cluster_role(READ, metadata={"labels": {f"x/{ns}": "true"}})
    path = f"{RBAC}/clusterroles/{complete}"
    eventually(lambda: admin.get(path).json.get("rules") == READ)
    admin.delete(f"{RBAC}/clusterroles/{part}").ok(200)
    eventually(lambda: not admin.get(path).json.get("rules"))


@pytest.mark.parametrize(
    "name", ["cluster-admin", "admin", "edit", "view", "system:discovery", "system:basic-user"]
)
def test_roles_that_are_always_there(admin, name):
    assert admin.get(f"{RBAC}/clusterroles/{name}").status == 200


def test_the_view_role_reads_but_no_secrets(bob, grants, ns):
    grants.bind(bob.name, "view", "ClusterRole")
    eventually(lambda: bob.get(f"/api/v1/namespaces/{ns}/configmaps").status == 200)
    assert bob.get(f"/api/v1/namespaces/{ns}/secrets").status == 403
    assert bob.post(f"/api/v1/namespaces/{ns}/configmaps", {"metadata": {"name": "x"}}).status == 403


def test_the_edit_role_writes(bob, grants, ns):
    grants.bind(bob.name, "edit", "ClusterRole")
    eventually(
        lambda: bob.post(f"/api/v1/namespaces/{ns}/configmaps", {"metadata": {"name": "x"}}).status == 201
    )
    assert bob.get(f"{RBAC}/namespaces/{ns}/roles").status == 403


@pytest.mark.parametrize(
    ("rules", "field"),
    [
        ([{"apiGroups": [""], "resources": ["pods"], "verbs": []}], "rules[0].verbs"),
        ([{"resources": ["pods"], "verbs": ["get"]}], "rules[0].apiGroups"),
        ([{"apiGroups": [""], "verbs": ["get"]}], "rules[0].resources"),
        ([{"nonResourceURLs": ["/x"], "verbs": ["get"]}], "rules[0].nonResourceURLs"),
    ],
)
def test_bad_rules_of_roles_are_refused(admin, ns, rules, field):
    answer = admin.post(f"{RBAC}/namespaces/{ns}/roles", {"metadata": {"name": "x"}, "rules": rules})
    assert answer.status == 422
    assert field in [cause["field"] for cause in answer.causes]


@pytest.mark.parametrize("namespace", ["kube-system", "default"])
def test_a_local_review_covers_the_namespace_of_its_path_only(admin, ns, namespace):
    review = {
        "metadata": {"namespace": namespace},
        "spec": {
            "user": "alice",
            "resourceAttributes": {"namespace": namespace, "verb": "get", "resource": "secrets"},
        },
    }
    path = f"/apis/authorization.k8s.io/v1/namespaces/{ns}/localsubjectaccessreviews"
    message = "the namespace of the provided object does not match the namespace sent on the request"
    admin.post(path, review).refused(400, "BadRequest", message)
