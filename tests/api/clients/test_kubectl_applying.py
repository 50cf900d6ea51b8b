"""kubectl applies objects, shows differences, and replaces; what is wrong with them is explained."""

from __future__ import annotations

import json

from tests.support.api.manifests import CONFIG_MAP, DEPLOYMENT, read


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


def test_apply_with_pruning(kubectl):
    second = CONFIG_MAP.replace("name: one", "name: two\n  labels: {p: q}")
    kubectl.run("apply", "-f", "-", stdin=second)
    first = CONFIG_MAP.replace("name: one", "name: one\n  labels: {p: q}")
    kubectl.run(
        "apply", "--prune", "-l", "p=q", "--prune-allowlist=core/v1/ConfigMap", "-f", "-", stdin=first
    )
    assert kubectl.run("get", "cm", "-l", "p=q", "-o", "name") == "configmap/one\n"
