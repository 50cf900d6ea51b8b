"""The real cluster works: what the suites rely on when they are run against it."""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys

import pytest

from tests.support.cluster.client import Client, eventually
from tests.support.cluster.real_cluster import RealCluster
from tests.support.paths import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/smoke.crossply.test/v1/namespaces/default/widgets"
WIDGET_SCHEMA = {
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}},
}
WIDGET_VERSION = {
    "name": "v1",
    "served": True,
    "storage": True,
    "schema": {"openAPIV3Schema": WIDGET_SCHEMA},
    "additionalPrinterColumns": [{"name": "SIZE", "type": "integer", "jsonPath": ".spec.size"}],
}
WIDGET_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.smoke.crossply.test"},
    "spec": {
        "group": "smoke.crossply.test",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [WIDGET_VERSION],
    },
}


def widget(name, **spec):
    return {
        "apiVersion": "smoke.crossply.test/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": spec,
    }


def config_map(name, data=None, **metadata):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **metadata},
        "data": data or {},
    }


@pytest.fixture(scope="module")
def widgets(admin):
    """The address of a custom kind that is served; it goes away with its objects afterwards."""
    code, _ = admin.call("POST", CRDS, WIDGET_CRD)
    assert code == 201
    try:
        assert eventually(lambda: admin.call("GET", WIDGETS)[0] == 200)
        yield WIDGETS
    finally:
        admin.call("DELETE", f"{CRDS}/widgets.smoke.crossply.test")
    assert eventually(lambda: admin.call("GET", f"{CRDS}/widgets.smoke.crossply.test")[0] == 404)


@pytest.fixture(scope="module")
def namespace(admin):
    """A namespace of our own, with the service account that the controllers make in it."""
    name = f"smoke-{secrets.token_hex(4)}"
    admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    assert eventually(lambda: admin.call("GET", account)[0] == 200)
    yield f"/api/v1/namespaces/{name}"
    admin.call("DELETE", f"/api/v1/namespaces/{name}")
    assert eventually(lambda: admin.call("GET", f"/api/v1/namespaces/{name}")[0] == 404)


def test_the_server_reports_the_version_that_go_mod_pins(admin):
    with open(os.path.join(HERE, "go.mod"), encoding="utf-8") as file:
        pinned = re.search(r"k8s\.io/kubernetes (v\S+)", file.read())
    assert admin.call("GET", "/version")[1]["gitVersion"] == pinned[1]


def test_a_custom_kind_is_served_with_its_defaults(admin, widgets):
    code, created = admin.call("POST", widgets, widget("defaulted"))
    assert (code, created["spec"]) == (201, {"size": 3})


def test_two_managers_conflict_until_one_forces(admin, widgets):
    path = f"{widgets}/contested"
    assert admin.apply(path, widget("contested", size=1), "first")[0] == 201
    code, status = admin.apply(path, widget("contested", size=2), "second")
    assert (code, status["reason"]) == (409, "Conflict")
    assert 'conflict with "first"' in status["message"]
    assert admin.apply(path, widget("contested", size=2), "second", force=True)[1]["spec"] == {"size": 2}


def test_a_watch_sees_every_change_in_order(admin, namespace):
    start = admin.call("GET", f"{namespace}/configmaps")[1]["metadata"]["resourceVersion"]
    admin.call("POST", f"{namespace}/configmaps", config_map("watched"))
    admin.apply(f"{namespace}/configmaps/watched", config_map("watched", {"key": "value"}), "smoke")
    admin.call("DELETE", f"{namespace}/configmaps/watched")
    selected = "watch=true&fieldSelector=metadata.name%3Dwatched&timeoutSeconds=10"
    events = admin.watch(f"{namespace}/configmaps?{selected}&resourceVersion={start}")
    assert [next(events)[0] for _ in range(3)] == ["ADDED", "MODIFIED", "DELETED"]
    events.close()


def test_kubectl_prints_the_columns_of_a_custom_kind(real_cluster, admin, widgets):
    admin.call("POST", widgets, widget("printed", size=7))
    command = [real_cluster.kubectl, "--kubeconfig", real_cluster.kubeconfig, "get", "widget", "printed"]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [line.split() for line in table.splitlines()] == [["NAME", "SIZE"], ["printed", "7"]]


def test_an_ordinary_user_may_do_nothing_without_a_grant(alice, namespace):
    code, status = alice.call("GET", f"{namespace}/configmaps")
    assert (code, status["reason"]) == (403, "Forbidden")
    assert status["message"].startswith('configmaps is forbidden: User "alice" cannot list resource')


def test_owned_objects_are_deleted_with_their_owner(admin, namespace):
    _, owner = admin.call("POST", f"{namespace}/configmaps", config_map("owner"))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    admin.call("POST", f"{namespace}/configmaps", config_map("owned", ownerReferences=[reference]))
    admin.call("DELETE", f"{namespace}/configmaps/owner")
    assert eventually(lambda: admin.call("GET", f"{namespace}/configmaps/owned")[0] == 404)


def test_a_killed_parent_leaves_no_program_running(real_cluster, tmp_path):
    directory = str(tmp_path / "cluster")
    shell = ["sh", "-c", "echo started; exec sleep 600"]
    command = [
        sys.executable,
        "-m",
        "tests.support.cluster",
        "run",
        "--dir",
        directory,
        "--audit",
        "--",
        *shell,
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "started\n"
        programs = RealCluster.attach(directory)
        client = Client(programs, programs.token)
        client.call("GET", "/api/v1/namespaces/default")
        with open(programs.audit_log, encoding="utf-8") as log:
            assert "/api/v1/namespaces/default" in log.read()
        assert programs.alive()
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert eventually(lambda: not any(process.alive() for process in programs.processes.values()), 10)
