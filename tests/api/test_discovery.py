"""Discovery, OpenAPI, health and version: requests that a client sends first."""

from __future__ import annotations

import json

import pytest

from tests.support.api.polling import eventually

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def test_the_core_versions(admin):
    document = admin.get("/api").ok(200)
    assert (document["kind"], document["versions"]) == ("APIVersions", ["v1"])


def test_the_groups(admin):
    document = admin.get("/apis").ok(200)
    assert document["kind"] == "APIGroupList"
    groups = {group["name"]: group["preferredVersion"]["version"] for group in document["groups"]}
    for name in ("apps", "batch", "rbac.authorization.k8s.io", "apiextensions.k8s.io", "coordination.k8s.io"):
        assert groups[name] == "v1"


def test_one_group(admin):
    document = admin.get("/apis/apps").ok(200)
    assert document["kind"] == "APIGroup"
    assert document["preferredVersion"] == {"groupVersion": "apps/v1", "version": "v1"}


def test_the_resources_of_the_core(admin):
    document = admin.get("/api/v1").ok(200)
    assert (document["kind"], document["groupVersion"]) == ("APIResourceList", "v1")
    result = {resource["name"]: resource for resource in document["resources"]}
    maps = result["configmaps"]
    assert (maps["kind"], maps["namespaced"], maps["shortNames"], maps["singularName"]) == (
        "ConfigMap",
        True,
        ["cm"],
        "configmap",
    )
    assert maps["verbs"] == [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ]
    assert result["namespaces"]["namespaced"] is False
    assert result["serviceaccounts/token"]["kind"] == "TokenRequest"
    assert "namespaces/finalize" in result


def test_the_resources_of_a_custom_group(admin, widgets):
    message = eventually(
        lambda: (
            (a := admin.get(f"/apis/{widgets.api_version}")).status == 200 and a.json["resources"] and a.json
        )
    )
    result = {resource["name"]: resource for resource in message["resources"]}
    assert set(result) == {"widgets", "widgets/status", "widgets/scale"}
    assert result["widgets"]["categories"] == ["all"]
    assert sorted(result["widgets"]["verbs"]) == [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ]
    assert result["widgets/status"]["verbs"] == ["get", "patch", "update"]
    assert (result["widgets/scale"]["group"], result["widgets/scale"]["kind"]) == ("autoscaling", "Scale")


def test_a_custom_group_is_among_the_groups(admin, widgets):
    group = widgets.api_version.partition("/")[0]

    def result():
        return [g for g in admin.get("/apis").json["groups"] if g["name"] == group]

    (entry,) = eventually(result)
    assert entry["versions"] == [{"groupVersion": f"{group}/v1", "version": "v1"}]


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_aggregated_discovery(admin, path):
    answer = admin.get(path, accept=AGGREGATED)
    message = answer.ok(200)
    assert (message["kind"], message["apiVersion"]) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2")
    assert "as=APIGroupDiscoveryList" in answer.headers["Content-Type"]
    assert answer.headers["ETag"]


def test_aggregated_discovery_of_a_custom_kind(admin, widgets):
    group = widgets.api_version.partition("/")[0]

    def result():
        items = admin.get("/apis", accept=AGGREGATED).json["items"]
        return [item for item in items if item["metadata"]["name"] == group]

    (entry,) = eventually(result)
    (served,) = entry["versions"]
    (resource,) = served["resources"]
    assert resource["resource"] == "widgets"
    assert resource["responseKind"] == {"group": group, "version": "v1", "kind": "Widget"}
    assert resource["scope"] == "Namespaced"
    assert sorted(s["subresource"] for s in resource["subresources"]) == ["scale", "status"]


def test_unchanged_aggregated_discovery_returns_304(admin):
    tag = admin.get("/api", accept=AGGREGATED).headers["ETag"]
    assert admin.get("/api", accept=AGGREGATED, headers={"If-None-Match": tag}).status == 304


def test_the_version(admin):
    document = admin.get("/version").ok(200)
    assert document["major"] == "1"
    assert document["minor"] == "36"
    assert document["gitVersion"].startswith("v1.36")


@pytest.mark.parametrize(
    "path", ["/healthz", "/livez", "/readyz", "/livez/ping", "/readyz/ping", "/healthz/ping"]
)
def test_health(admin, path):
    answer = admin.get(path)
    assert (answer.status, answer.text) == (200, "ok")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health_in_many_words(admin, path):
    answer = admin.get(path, verbose="true")
    assert answer.status == 200
    assert "[+]ping ok\n" in answer.text
    assert answer.text.endswith(f"{path[1:]} check passed\n")


def test_metrics(admin):
    answer = admin.get("/metrics", accept="text/plain")
    assert answer.status == 200
    assert "apiserver_request_total" in answer.text


def test_the_paths_of_openapi_v3(admin, widgets):
    document = admin.get("/openapi/v3").ok(200)
    assert "api/v1" in document["paths"]
    assert "apis/apps/v1" in document["paths"]
    assert document["paths"]["api/v1"]["serverRelativeURL"].startswith("/openapi/v3/api/v1?hash=")
    eventually(lambda: f"apis/{widgets.api_version}" in admin.get("/openapi/v3").json["paths"])


def test_openapi_v3_of_the_core(admin):
    document = admin.get("/openapi/v3/api/v1").ok(200)
    assert document["openapi"].startswith("3.0")
    schema = document["components"]["schemas"]["io.k8s.api.core.v1.ConfigMap"]
    assert schema["properties"]["data"]["additionalProperties"]["type"] == "string"
    assert schema["x-kubernetes-group-version-kind"] == [{"group": "", "kind": "ConfigMap", "version": "v1"}]
    assert "/api/v1/namespaces/{namespace}/configmaps/{name}" in document["paths"]


def test_openapi_v3_of_a_custom_kind(admin, widgets):
    path = f"/openapi/v3/apis/{widgets.api_version}"
    document = eventually(lambda: (a := admin.get(path)).status == 200 and a.json)
    (schema,) = [s for name, s in document["components"]["schemas"].items() if name.endswith(".Widget")]
    assert schema["properties"]["spec"]["properties"]["size"]["type"] == "integer"
    assert schema["x-kubernetes-group-version-kind"][0]["kind"] == "Widget"


def test_openapi_v2(admin):
    document = admin.get("/openapi/v2").ok(200)
    assert document["swagger"] == "2.0"
    assert "io.k8s.api.apps.v1.Deployment" in document["definitions"]
    kinds = document["definitions"]["io.k8s.api.core.v1.ConfigMap"]["x-kubernetes-group-version-kind"]
    assert kinds == [{"group": "", "kind": "ConfigMap", "version": "v1"}]


def test_openapi_v2_of_a_custom_kind(admin, widgets):
    def result():
        return [name for name in admin.get("/openapi/v2").json["definitions"] if name.endswith("v1.Widget")]

    assert eventually(result)


def test_unchanged_openapi_v2_returns_304(admin):
    tag = admin.get("/openapi/v2").headers["ETag"]
    assert admin.get("/openapi/v2", headers={"If-None-Match": tag}).status == 304


def test_the_root_lists_the_paths(admin):
    document = json.loads(admin.get("/").raw)
    assert "/api" in document["paths"]
    assert "/apis" in document["paths"]


def test_the_keys_of_service_accounts(admin):
    document = admin.get("/.well-known/openid-configuration").ok(200)
    assert document["issuer"]
    keys = admin.get("/openid/v1/jwks", accept="application/jwk-set+json").json["keys"]
    assert keys[0]["use"] == "sig"
