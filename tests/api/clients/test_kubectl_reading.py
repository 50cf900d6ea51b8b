"""kubectl gets, watches, waits for, explains and describes what there is."""

from __future__ import annotations

from tests.support.api.definitions import objects
from tests.support.api.manifests import CONFIG_MAP
from tests.support.api.polling import eventually


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


def test_describe(kubectl):
    kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP)
    assert "Name:         one" in kubectl.run("describe", "configmap", "one")


def test_describe_a_custom_object(kubectl, widget, resource):
    kubectl.run("apply", "-f", "-", stdin=widget(size=2))
    assert "Size:  2" in kubectl.run("describe", resource, "one")


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
