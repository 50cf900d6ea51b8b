"""Which kinds have paths in a namespace."""

from __future__ import annotations

import pytest

from tests.support.api.collection import Collection
from tests.support.api.definitions import version
from tests.support.api.refusals import NO_RESOURCE, answer_to

OTHERS = "kube-system"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "namespaces"),
        ("GET", "namespaces?watch=true&timeoutSeconds=1"),
        ("GET", "namespaces?fieldSelector=metadata.name%3DNS"),
        ("POST", "namespaces"),
        ("DELETE", "namespaces"),
        *[(method, f"namespaces/{OTHERS}") for method in ("GET", "PUT", "PATCH", "DELETE")],
        *[(method, "namespaces/NS") for method in ("GET", "PUT", "PATCH", "DELETE")],
        *[(method, f"namespaces/{OTHERS}/status") for method in ("GET", "PUT", "PATCH")],
        ("GET", "namespaces/NS/status"),
        ("PUT", f"namespaces/{OTHERS}/finalize"),
        ("GET", "nodes"),
        ("GET", "persistentvolumes/one"),
        ("GET", "persistentvolumes/one/status"),
        ("POST", "persistentvolumes"),
    ],
)
def test_a_cluster_scoped_kind_has_no_path_in_a_namespace(configmaps, ns, method, path):
    """The right to namespaces in one namespace must not reach those of others."""
    target = f"/api/v1/namespaces/{ns}/{path}".replace("NS", ns)
    answer_to(configmaps, method, target).refused(*NO_RESOURCE)


@pytest.mark.parametrize("path", ["namespaces", f"namespaces/{OTHERS}"])
def test_the_deprecated_watch_has_no_path_to_namespaces_in_one(configmaps, ns, path):
    target = f"/api/v1/watch/namespaces/{ns}/{path}?timeoutSeconds=1"
    answer_to(configmaps, "GET", target).refused(*NO_RESOURCE)


@pytest.mark.parametrize("name", ["namespaces", "status", "finalize"])
def test_a_namespace_may_be_called_as_a_part_of_its_path(admin, name):
    admin.post("/api/v1/namespaces", {"metadata": {"name": name}})
    assert admin.get(f"/api/v1/namespaces/{name}").ok()["metadata"]["name"] == name
    assert admin.get(f"/api/v1/namespaces/{name}/status").ok()["metadata"]["name"] == name
    admin.delete(f"/api/v1/namespaces/{name}")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("below", ["", "/one", "/one/status"])
def test_a_custom_kind_of_the_cluster_has_no_path_in_a_namespace(define, admin, ns, method, below):
    body = define(version(spec={"size": {"type": "integer"}}, subresources={"status": {}}), scope="Cluster")
    group, plural = body["spec"]["group"], body["spec"]["names"]["plural"]
    target = f"/apis/{group}/v1/namespaces/{ns}/{plural}{below}"
    answer = answer_to(Collection(admin, f"{group}/v1", "X", plural, ns), method, target)
    assert (answer.status, answer.text) == (404, "404 page not found\n")
