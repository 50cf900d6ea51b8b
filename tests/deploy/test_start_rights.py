"""A start waits for missing rights, names them, and continues when they are granted."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from crossply.kube.client import Client
from crossply.kube.config import load_config
from tests.support.api_servers import embedded
from tests.support.chart_installation import controller_flags, install, install_objects, manifests
from tests.support.control_plane import CROSSPLY
from tests.support.patience import PATIENCE
from tests.support.ports import free_port

pytestmark = pytest.mark.xdist_group("deploy")


def without_runtime_configs():
    """The manifests of a chart that does not let the controllers read RuntimeConfigs."""
    objects = manifests()
    for obj in objects:
        if obj["kind"] == "ClusterRole":
            rules = obj.get("rules") or []
            obj["rules"] = [rule for rule in rules if rule["apiGroups"] != ["crossply.dev"]]
    return objects


def readiness(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as reply:
            return reply.read().decode()
    except urllib.error.HTTPError as problem:
        return problem.read().decode()
    except OSError:
        return ""


def until_ready_says(port, text):
    end = time.monotonic() + PATIENCE
    while text not in (answer := readiness(port)):
        assert time.monotonic() < end, answer
        time.sleep(0.2)
    return answer


def until_logged(log, text):
    end = time.monotonic() + PATIENCE
    while text not in log.read_text():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.2)


@contextlib.contextmanager
def controller(directory, *flags):
    with (directory / "controller.log").open("w") as log:
        process = subprocess.Popen([CROSSPLY, *flags], stdout=subprocess.DEVNULL, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


async def test_a_start_that_may_not_list_a_kind_names_it_and_goes_on_with_the_rights_of_the_chart(tmp_path):
    async def restricted(server):
        async with Client(load_config(server.kubeconfig)) as client:
            return await install_objects(client, server.ca, tmp_path, without_runtime_configs(), force=True)

    with embedded(tmp_path) as server:
        account, port = await restricted(server), free_port()
        flags = (f"--health-probe-port={port}", "--metrics-port=0", "--package-runtime=Container")
        with controller(tmp_path, *controller_flags(), "--kubeconfig", account, "--replica=one", *flags):
            answer = until_ready_says(port, "cannot list runtimeconfigs.crossply.dev")
            assert answer.startswith("starting\n")
            assert "to grant it: kubectl create clusterrole" in answer
            until_logged(tmp_path / "controller.log", "the control plane does not start")
            await asyncio.to_thread(install, server.kubeconfig, server.ca, tmp_path)
            assert until_ready_says(port, "ok") == "ok"
