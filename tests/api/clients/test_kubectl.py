"""kubectl, which is how most people meet an API server."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.api.definitions import objects
from tests.api.waiting import eventually

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: one
data:
  a: "1"
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1
"""


@pytest.fixture
def widget(widget_definition):
    def manifest(name="one", **spec):
        versions = widget_definition["spec"]["versions"]
        return yaml.safe_dump(
            {
                "apiVersion": f"{widget_definition['spec']['group']}/{versions[0]['name']}",
                "kind": "Widget",
                "metadata": {"name": name},
                "spec": spec,
            }
        )

    return manifest


@pytest.fixture
def resource(widget_definition):
    return widget_definition["metadata"]["name"]


def read(kubectl, *words):
    return json.loads(kubectl.run("get", *words, "-o", "json"))


def test_apply_creates_changes_and_leaves_alone(kubectl):
    assert kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP) == "configmap/one created\n"
    assert kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP) == "configmap/one unchanged\n"
    changed = CONFIG_MAP.replace('a: "1"', 'b: "2"')
    assert kubectl.run("apply", "-f", "-", stdin=changed) == "configmap/one configured\n"
    assert read(kubectl, "configmap", "one")["data"] == {"b": "2"}


def test_apply_of_a_custom_object(kubectl, widget, resource):
    assert (
        kubectl.run("apply", "-f", "-", stdin=widget(size=1, note="x"))
        == f"widget.{resource.partition('.')[2]}/one created\n"
    )
    kubectl.run("apply", "-f", "-", stdin=widget(size=2))
    assert read(kubectl, resource, "one")["spec"] == {"size": 2, "mode": "plain"}


def test_apply_of_a_deployment_merges_containers(kubectl):
    kubectl.run("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl.run("apply", "-f", "-", stdin=DEPLOYMENT.replace("nginx:1", "nginx:2"))
    (container,) = read(kubectl, "deployment", "web")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "nginx:2"


def test_server_side_apply(kubectl):
    assert (
        kubectl.run("apply", "--server-side", "-f", "-", stdin=CONFIG_MAP)
        == "configmap/one serverside-applied\n"
    )
    kubectl.run("apply", "--server-side", "--field-manager=other", "-f", "-", stdin=CONFIG_MAP)
    changed = CONFIG_MAP.replace('"1"', '"2"')
    kubectl.run("apply", "--server-side", "--field-manager=third", "-f", "-", stdin=changed, code=1)
    assert 'conflicts with "' in kubectl.errors or 'conflict with "' in kubectl.errors
    kubectl.run(
        "apply", "--server-side", "--force-conflicts", "--field-manager=third", "-f", "-", stdin=changed
    )
    assert read(kubectl, "configmap", "one")["data"] == {"a": "2"}


def test_diff(kubectl):
    kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP)
    kubectl.run("diff", "-f", "-", stdin=CONFIG_MAP)
    shown = kubectl.run("diff", "-f", "-", stdin=CONFIG_MAP.replace('"1"', '"2"'), code=1)
    assert '-  a: "1"' in shown
    assert '+  a: "2"' in shown


def test_server_side_diff(kubectl):
    kubectl.run("apply", "--server-side", "-f", "-", stdin=CONFIG_MAP)
    shown = kubectl.run("diff", "--server-side", "-f", "-", stdin=CONFIG_MAP.replace('"1"', '"2"'), code=1)
    assert '+  a: "2"' in shown


def test_get_as_a_table(kubectl, widget, resource):
    kubectl.run("apply", "-f", "-", stdin=widget(size=4))
    head, row = kubectl.run("get", resource).splitlines()
    assert head.split() == ["NAME", "SIZE", "AGE"]
    assert row.split()[:2] == ["one", "4"]
    assert "COLOUR" in kubectl.run("get", resource, "-o", "wide")


def test_get_by_short_name_and_category(kubectl, widget, widget_definition):
    kubectl.run("apply", "-f", "-", stdin=widget(size=4))
    short = widget_definition["spec"]["names"]["shortNames"][0]
    assert kubectl.run("get", short, "-o", "name").endswith("/one\n")
    assert "/one" in kubectl.run("get", "all", "-o", "name")


def test_get_with_jsonpath_and_columns(kubectl):
    kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP)
    assert kubectl.run("get", "cm", "one", "-o", "jsonpath={.data.a}") == "1"
    assert kubectl.run("get", "cm", "one", "-o", "custom-columns=N:.metadata.name", "--no-headers") == "one\n"


def test_get_by_selectors(kubectl):
    kubectl.run("create", "configmap", "a")
    kubectl.run("label", "configmap", "a", "x=y")
    kubectl.run("create", "configmap", "b")
    assert kubectl.run("get", "cm", "-l", "x=y", "-o", "name") == "configmap/a\n"
    assert kubectl.run("get", "cm", "--field-selector", "metadata.name=b", "-o", "name") == "configmap/b\n"


def test_get_in_chunks(kubectl):
    for number in range(3):
        kubectl.run("create", "configmap", f"n{number}")
    names = kubectl.run("get", "cm", "--chunk-size=1", "-o", "name").split()
    assert {"configmap/n0", "configmap/n1", "configmap/n2"} <= set(names)


def test_get_follows_changes(kubectl):
    kubectl.run("create", "configmap", "one")
    with kubectl.start("get", "configmap", "one", "--watch", "-o", "name") as watching:
        assert watching.stdout.readline() == "configmap/one\n"
        kubectl.run("label", "configmap", "one", "a=b")
        assert watching.stdout.readline() == "configmap/one\n"
        watching.terminate()


def test_wait_for_a_condition(kubectl, widget, resource, admin, ns, widget_definition):
    kubectl.run("apply", "-f", "-", stdin=widget(size=1))
    with kubectl.start(
        "wait", f"{resource}/one", "--for=jsonpath={.status.phase}=Ready", "--timeout=30s"
    ) as waiting:
        objects(admin, widget_definition, ns).merge("one", {"status": {"phase": "Ready"}}, "status").ok(200)
        assert waiting.stdout.read().endswith("condition met\n")
        assert waiting.wait(30) == 0


def test_wait_for_the_end(kubectl):
    kubectl.run("create", "configmap", "one")
    with kubectl.start("wait", "configmap/one", "--for=delete", "--timeout=30s") as waiting:
        kubectl.run("delete", "configmap", "one")
        assert waiting.wait(30) == 0


def test_wait_for_a_definition(kubectl, widget_definition):
    name = widget_definition["metadata"]["name"]
    assert kubectl.run("wait", f"crd/{name}", "--for=condition=Established", "--timeout=30s").endswith(
        "condition met\n"
    )


def test_explain(kubectl, resource):
    shown = kubectl.run("explain", "configmap.data")
    assert "FIELD: data <map[string]string>" in shown
    shown = eventually(lambda: kubectl.run("explain", f"{resource}.spec"))
    assert "size\t<integer>" in shown


def test_explain_recursively(kubectl):
    assert "matchLabels" in kubectl.run("explain", "deployment.spec.selector", "--recursive")


def test_api_resources(kubectl, widget_definition):
    group = widget_definition["spec"]["group"]
    assert kubectl.run("api-resources", "--api-group", group, "-o", "name") == f"widgets.{group}\n"
    assert "configmaps" in kubectl.run(
        "api-resources", "--namespaced=true", "--verbs=list,watch", "-o", "name"
    )


def test_api_versions(kubectl):
    assert {"v1", "apps/v1", "apiextensions.k8s.io/v1"} <= set(kubectl.run("api-versions").split())


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


def test_who_may(kubectl):
    assert kubectl.run("auth", "can-i", "delete", "secrets") == "yes\n"
    assert kubectl.run("auth", "can-i", "delete", "secrets", "--as=jane", code=1) == "no\n"
    assert "selfsubjectreviews" in kubectl.run("auth", "can-i", "--list", "--as=jane")


def test_who_am_i(kubectl):
    assert "jane" in kubectl.run("auth", "whoami", "--as=jane")


def test_forbidden(kubectl):
    kubectl.run("get", "secrets", "--as=jane", code=1)
    assert (
        'Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets"'
        in kubectl.errors
    )


def test_create_a_token(kubectl):
    kubectl.run("create", "serviceaccount", "robot")
    token = kubectl.run("create", "token", "robot", "--duration=20m").strip()
    assert token.count(".") == 2


def test_unknown_fields_are_refused(kubectl):
    kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP + "dater: {}\n", code=1)
    assert 'unknown field "dater"' in kubectl.errors


def test_bad_objects_are_explained(kubectl, widget):
    kubectl.run("apply", "-f", "-", stdin=widget(size=-1), code=1)
    assert (
        "spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0"
        in kubectl.errors
    )


def test_replace_and_edit_by_replace(kubectl):
    kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP)
    obj = read(kubectl, "configmap", "one")
    obj["data"] = {"z": "1"}
    assert kubectl.run("replace", "-f", "-", stdin=json.dumps(obj)) == "configmap/one replaced\n"
    kubectl.run("replace", "-f", "-", stdin=json.dumps(obj), code=1)
    assert "the object has been modified" in kubectl.errors


def test_describe(kubectl):
    kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP)
    assert "Name:         one" in kubectl.run("describe", "configmap", "one")


def test_describe_a_custom_object(kubectl, widget, resource):
    kubectl.run("apply", "-f", "-", stdin=widget(size=2))
    assert "Size:  2" in kubectl.run("describe", resource, "one")


def test_set_an_image(kubectl):
    kubectl.run("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl.run("set", "image", "deployment/web", "web=nginx:9")
    assert (
        read(kubectl, "deployment", "web")["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:9"
    )


def test_apply_with_pruning(kubectl):
    second = CONFIG_MAP.replace("name: one", "name: two\n  labels: {p: q}")
    kubectl.run("apply", "-f", "-", stdin=second)
    first = CONFIG_MAP.replace("name: one", "name: one\n  labels: {p: q}")
    kubectl.run(
        "apply", "--prune", "-l", "p=q", "--prune-allowlist=core/v1/ConfigMap", "-f", "-", stdin=first
    )
    assert kubectl.run("get", "cm", "-l", "p=q", "-o", "name") == "configmap/one\n"


def test_get_raw(kubectl):
    assert kubectl.run("get", "--raw", "/readyz") == "ok"


def test_version(kubectl):
    assert "Server Version: v1.36" in kubectl.run("version")


def test_events(kubectl, admin, ns):
    body = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "ConfigMap", "name": "one", "namespace": ns},
        "reason": "Because",
        "message": "It happened",
        "type": "Normal",
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }
    admin.post(f"/api/v1/namespaces/{ns}/events", body).ok(201)
    assert "It happened" in kubectl.run("events")
