"""kubectl creates, patches, labels, scales and deletes objects."""

from __future__ import annotations

import json

import pytest

from tests.support.api.manifests import CONFIG_MAP, DEPLOYMENT, read
from tests.support.api.polling import eventually


def test_delete(kubectl):
    kubectl.run("create", "configmap", "one")
    assert kubectl.run("delete", "configmap", "one").startswith('configmap "one" deleted')
    kubectl.run("delete", "configmap", "one", code=1)
    assert kubectl.errors == 'Error from server (NotFound): configmaps "one" not found\n'


@pytest.mark.parametrize("cascade", ["foreground", "background", "orphan"])
def test_delete_with_dependents(kubectl, cascade):
    kubectl.run("create", "configmap", "owner")
    owner = read(kubectl, "configmap", "owner")["metadata"]
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": owner["uid"],
        "blockOwnerDeletion": True,
    }
    child = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "child", "ownerReferences": [reference]},
    }
    kubectl.run("create", "-f", "-", stdin=json.dumps(child))
    kubectl.run("delete", "configmap", "owner", f"--cascade={cascade}")
    if cascade == "orphan":
        assert "ownerReferences" not in read(kubectl, "configmap", "child")["metadata"]
    else:
        eventually(lambda: kubectl.run("get", "configmap", "child", "--ignore-not-found") == "")


def test_delete_all_of_a_kind(kubectl, widget, resource):
    kubectl.run("apply", "-f", "-", stdin=widget("a"))
    kubectl.run("apply", "-f", "-", stdin=widget("b"))
    kubectl.run("delete", resource, "--all")
    assert kubectl.run("get", resource, "-o", "name") == ""


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("json", '[{"op": "replace", "path": "/data/a", "value": "9"}]'),
        ("merge", '{"data": {"a": "9"}}'),
        ("strategic", '{"data": {"a": "9"}}'),
    ],
)
def test_patch(kubectl, kind, patch):
    kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP)
    assert kubectl.run("patch", "configmap", "one", "--type", kind, "-p", patch) == "configmap/one patched\n"
    assert read(kubectl, "configmap", "one")["data"] == {"a": "9"}


def test_patch_of_a_status(kubectl, widget, resource):
    kubectl.run("apply", "-f", "-", stdin=widget(size=1))
    kubectl.run(
        "patch", resource, "one", "--type=merge", "--subresource=status", "-p", '{"status":{"phase":"Up"}}'
    )
    assert read(kubectl, resource, "one")["status"] == {"phase": "Up"}


def test_label_and_annotate(kubectl):
    kubectl.run("create", "configmap", "one")
    assert kubectl.run("label", "configmap", "one", "a=b") == "configmap/one labeled\n"
    kubectl.run("label", "configmap", "one", "a=c", code=1)
    kubectl.run("label", "configmap", "one", "a=c", "--overwrite")
    assert kubectl.run("annotate", "configmap", "one", "x=y") == "configmap/one annotated\n"
    kubectl.run("label", "configmap", "one", "a-")
    metadata = read(kubectl, "configmap", "one")["metadata"]
    assert "labels" not in metadata
    assert metadata["annotations"] == {"x": "y"}


def test_scale_a_custom_object(kubectl, widget, resource):
    kubectl.run("apply", "-f", "-", stdin=widget(replicas=1))
    assert kubectl.run("scale", f"{resource}/one", "--replicas=5").endswith("/one scaled\n")
    assert read(kubectl, resource, "one")["spec"]["replicas"] == 5


def test_scale_a_deployment(kubectl):
    kubectl.run("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl.run("scale", "deployment/web", "--replicas=3", "--current-replicas=1")
    assert read(kubectl, "deployment", "web")["spec"]["replicas"] == 3


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("configmap", "x", "--from-literal=a=b"), "configmap"),
        (("secret", "generic", "x", "--from-literal=a=b"), "secret"),
        (
            (
                "secret",
                "docker-registry",
                "x",
                "--docker-server=s",
                "--docker-username=u",
                "--docker-password=p",
            ),
            "secret",
        ),
        (("deployment", "x", "--image=nginx"), "deployment"),
        (("service", "clusterip", "x", "--tcp=80:8080"), "service"),
        (("serviceaccount", "x"), "serviceaccount"),
        (("role", "x", "--verb=get", "--resource=pods"), "role"),
        (("rolebinding", "x", "--role=x", "--user=u"), "rolebinding"),
        (("job", "x", "--image=busybox"), "job"),
        (("cronjob", "x", "--image=busybox", "--schedule=* * * * *"), "cronjob"),
        (("ingress", "x", "--rule=example.org/*=s:80"), "ingress"),
        (("poddisruptionbudget", "x", "--selector=a=b", "--min-available=1"), "poddisruptionbudget"),
        (("quota", "x", "--hard=cpu=1"), "resourcequota"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_create(kubectl, words, kind):
    kubectl.run("create", *words)
    assert kubectl.run("get", kind, "x", "-o", "jsonpath={.metadata.name}") == "x"


def test_dry_run_by_the_server(kubectl):
    shown = kubectl.run("create", "configmap", "x", "--dry-run=server", "-o", "json")
    assert json.loads(shown)["metadata"]["uid"]
    kubectl.run("get", "configmap", "x", code=1)


def test_set_an_image(kubectl):
    kubectl.run("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl.run("set", "image", "deployment/web", "web=nginx:9")
    assert (
        read(kubectl, "deployment", "web")["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:9"
    )
