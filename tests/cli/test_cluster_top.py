"""`cluster top` shows the usage of a control plane's pods, from the metrics API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from crossply.cli.cluster.top import POD, POD_METRICS, recognized
from crossply.cli.main import main
from crossply.kube.client import Client
from crossply.kube.discovery import Discovery
from tests.support.cli.trace_cluster import definition
from tests.support.server_process import DEFINITION, NAMESPACE, Server

pytestmark = pytest.mark.xdist_group("top")
Object = dict[str, Any]
Top = Callable[[str], tuple[int, str, str]]
CORE = {"app.kubernetes.io/part-of": "crossplane"}
SKY = {"pkg.crossplane.io/provider": "sky", "pkg.crossplane.io/revision": "sky-1"}
MAKER = {"pkg.crossplane.io/function": "maker", "pkg.crossplane.io/revision": "maker-1"}
PODS = {
    "crossplane-rbac": (CORE, [("900u", "1048577")]),
    "crossplane-core": (CORE, [("1500000n", "20Mi"), ("1", "1048575")]),
    "sky-1": (SKY, [("250m", "1Gi"), ("0", "0")]),
    "maker-1": (MAKER, [("1n", "512Ki"), ("1n", "512Ki")]),
    "shop": ({"app": "shop"}, [("4", "9Gi")]),
}
"""The name of each pod, its labels, and what its containers use of processors and memory."""


def pod(name: str, labels: dict[str, str], namespace: str = "crossplane-system") -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    spec = {"containers": [{"name": "main", "image": "registry.test/main:v1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def metrics(name: str, used: list[tuple[str, str]], namespace: str = "crossplane-system") -> Object:
    containers = [
        {"name": f"c{number}", "usage": {"cpu": cpu, "memory": memory}}
        for number, (cpu, memory) in enumerate(used)
    ]
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "PodMetrics",
        "metadata": metadata,
        "containers": containers,
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("top"), "--in-memory").start()
    yield server
    server.stop()


@pytest.fixture
def top(server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Top:
    """Run `crossply cluster top …`."""
    monkeypatch.setenv("KUBECONFIG", server.kubeconfig)

    def call(words: str) -> tuple[int, str, str]:
        code = main(["cluster", "top", *words.split()])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


async def fill(server: Server, *namespaces: str) -> None:
    async with Client(server.config) as client:
        for name in namespaces:
            await client.create(NAMESPACE, {"metadata": {"name": name}})
        for name, (labels, _) in PODS.items():
            await client.create(POD, pod(name, labels))
        await client.create(POD, pod("young", CORE, "young"))
        await client.create(POD, pod("odd", CORE, "odd"))


async def serve_metrics(server: Server) -> None:
    """Have the server serve the metrics API, which is otherwise another server's."""
    crd = definition("PodMetrics", "metrics.k8s.io", versions=("v1beta1",), plural="pods", singular="pod")
    crd["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, for a test"}
    async with Client(server.config) as client:
        await client.create(DEFINITION, crd)
        for _ in range(200):
            discovery = Discovery(client)
            await discovery.refresh()
            if ("metrics.k8s.io/v1beta1", "PodMetrics") in discovery._by_kind:
                break
            await asyncio.sleep(0.05)
        for name, (_, used) in PODS.items():
            await client.create(POD_METRICS, metrics(name, used))
        await client.create(POD_METRICS, metrics("odd", [("a lot", "1Mi")], "odd"))


def test_a_namespace_without_control_plane_pods_is_reported(top: Top) -> None:
    assert top("") == (0, "No Crossplane pods found in the namespace crossplane-system\n", "")


@pytest.fixture(scope="module")
def filled(server: Server) -> None:
    asyncio.run(fill(server, "crossplane-system", "young", "odd"))


def test_a_server_without_the_metrics_api_gives_a_hint_to_install_it(top: Top, filled: None) -> None:
    code, out, err = top("-n young")
    assert (code, out) == (1, "")
    assert "try: install metrics-server in the cluster" in err
    assert err.splitlines()[-1].endswith(
        "error adding metrics to pod, check if metrics-server is running or wait until metrics are available "
        "for the pod: the server could not find the requested resource (get pods.metrics.k8s.io young)"
    )


@pytest.fixture(scope="module")
def measured(server: Server, filled: None) -> None:
    asyncio.run(serve_metrics(server))


TABLE = """\
TYPE         NAMESPACE           NAME              CPU(cores)   MEMORY
crossplane   crossplane-system   crossplane-core   1002m        20Mi
crossplane   crossplane-system   crossplane-rbac   1m           1Mi
function     crossplane-system   maker-1           1m           1Mi
provider     crossplane-system   sky-1             250m         1024Mi
"""
SUMMARY = """\
Nr of Crossplane pods: 4
Crossplane: 2
Function: 1
Provider: 1
Memory: 1047Mi
CPU(cores): 1253m

"""


def test_pods_are_shown_by_type_and_name_and_containers_are_added_up(top: Top, measured: None) -> None:
    assert top("") == (0, TABLE, "")


def test_a_summary_counts_types_and_adds_up_before_it_rounds(top: Top, measured: None) -> None:
    assert top("-s -n crossplane-system") == (0, SUMMARY + TABLE, "")


def test_the_older_name_of_the_command_works(
    measured: None, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", server.kubeconfig)
    assert main(["beta", "top"]) == 0
    assert capsys.readouterr().out == TABLE


MISTAKES = [
    ("-n young", "try again then", 'podmetrics.metrics.k8s.io "young/young" not found'),
    ("-n odd", "", "cpu of pod odd: 'a lot': "),
    ("--as=nobody", "roles", 'could not fetch pods: pods is forbidden: User "nobody" cannot list'),
    ("--as-uid=1", "add --as", "requesting uid, groups or user-extra without impersonating a user"),
]


@pytest.mark.parametrize(("words", "hint", "message"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_usage_errors_are_reported(top: Top, measured: None, words: str, hint: str, message: str) -> None:
    code, out, err = top(words)
    assert (code, out) == (1, "")
    assert hint in err
    assert message in err.splitlines()[-1]


def test_impersonated_groups_are_sent_to_the_server(top: Top, measured: None) -> None:
    assert top("--as=somebody --as-group=others --as-group=system:masters") == (0, TABLE, "")


def test_an_unresponsive_server_is_reported(top: Top, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    nowhere = tmp_path / "config"
    nowhere.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: x\n"
        "contexts: [{name: x, context: {cluster: x, user: x}}]\nusers: [{name: x, user: {}}]\n"
        "clusters: [{name: x, cluster: {server: 'http://127.0.0.1:1'}}]\n"
    )
    monkeypatch.setenv("KUBECONFIG", str(nowhere))
    code, _, err = top("")
    assert code == 1
    assert "could not fetch pods: Get " in err
    assert "connection refused" in err


LABELS = [
    ({"pkg.crossplane.io/revision": "x"}, None, "a revision alone says nothing"),
    ({**CORE, **SKY}, "provider", "what it is precisely comes first"),
    ({"app.kubernetes.io/part-of": "shop"}, None, "a part of something else"),
    ({}, None, "no labels"),
]


@pytest.mark.parametrize(("labels", "expected", "why"), LABELS, ids=[row[2] for row in LABELS])
def test_pods_are_recognized_by_their_labels(labels: dict[str, str], expected: str | None, why: str) -> None:
    pod_kind = recognized(pod("x", labels))
    assert (pod_kind and pod_kind.type) == expected, why
