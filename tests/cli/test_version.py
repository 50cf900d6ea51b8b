"""`crossply version` prints the version of the program and of the control plane."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crossply.cli.main import main
from crossply.cli.version import version_of
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.kind import Kind
from crossply.version import __version__
from tests.support.ports import free_port
from tests.support.server_process import Server

CLIENT = f"Client Version: v{__version__}\n"
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", True)


def deployment(
    labels: dict[str, str], image: str = "registry.test/crossplane/crossplane:v2.3.4"
) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "crossplane", "namespace": "default", "labels": labels},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template},
    }


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server(tmp_path, "--in-memory").start()
    monkeypatch.setenv("KUBECONFIG", server.kubeconfig)
    yield server
    server.stop()


async def create(server: Server, obj: dict[str, Any]) -> None:
    async with Client(load_config(server.kubeconfig)) as client:
        await client.create(DEPLOYMENT, obj)


def test_the_client_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version", "--client"]) == 0
    assert capsys.readouterr() == (CLIENT, "")


def test_the_embedded_server_has_the_version_of_the_program(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr() == (f"{CLIENT}Server Version: v{__version__}\n", "")


@pytest.mark.parametrize(
    ("labels", "version"),
    [
        ({"app": "crossplane"}, "v2.3.4"),
        ({"app": "crossplane", "app.kubernetes.io/version": "2.2.0"}, "v2.2.0"),
        ({"app.kubernetes.io/name": "crossply", "app.kubernetes.io/version": "0.9.0"}, "v0.9.0"),
    ],
)
def test_a_deployment_of_the_control_plane_reports_its_version(
    server: Server, capsys: pytest.CaptureFixture[str], labels: dict[str, str], version: str
) -> None:
    asyncio.run(create(server, deployment(labels)))
    assert main(["version"]) == 0
    assert capsys.readouterr() == (f"{CLIENT}Server Version: {version}\n", "")


@pytest.mark.parametrize(
    ("labels", "image", "version"),
    [
        ({"app.kubernetes.io/version": "v1.0.0"}, "core:v2", "v1.0.0"),
        ({}, "registry.test:5000/core:2.0.0", "v2.0.0"),
        ({}, f"registry.test/core@sha256:{'0' * 64}", None),
    ],
)
def test_a_version_is_read_from_the_label_or_the_tag(
    labels: dict[str, str], image: str, version: str | None
) -> None:
    assert version_of(deployment(labels, image)) == version


def test_without_a_kubeconfig_it_fails_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert main(["version"]) == 1
    out, err = capsys.readouterr()
    assert out == CLIENT
    assert err.splitlines()[0] == "crossply: try: crossply version --client needs no server"
    last = err.splitlines()[-1]
    assert last.startswith("crossply: error: unable to get crossplane version: failed to get kubeconfig: ")


def test_a_server_that_does_not_answer_is_named_and_the_command_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"127.0.0.1:{free_port()}"
    (tmp_path / "config").write_text(
        f"apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: 'http://{address}'}}}}]\n"
        "users: [{name: u, user: {}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
    )
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    assert main(["version"]) == 1
    out, err = capsys.readouterr()
    assert out == CLIENT
    last = err.splitlines()[-1]
    assert last.startswith("crossply: error: unable to get crossplane version: could not fetch deployments: ")
    assert address in last
