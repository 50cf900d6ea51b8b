"""The image: the same at each build, run by any user on a read-only file system, for everything it is for."""

from __future__ import annotations

import asyncio
import json
import pathlib
import re
import urllib.request
from collections.abc import Iterator

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from crossply.kube.client import Client
from crossply.version import __version__
from crossply.xpkg.image import digest
from tests.support.e2e.scenario import Scenario
from tests.support.e2e.things import READY, Things
from tests.support.ports import free_port
from tests.support.release.image_container import ImageContainers
from tests.support.release.wheelhouse import run_tool
from tests.support.server_process import Server

SOMEBODY = 1_234_567
"""A user ID without an account, as some clusters choose at random."""
STARLARK = "xpkg.crossplane.io/crossplane-contrib/function-starlark:v0.1.0"
PROGRAM = """
size = oxr["spec"]["size"]
Resource("one", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": size}}, ready = True)
"""
ARCHIVE = re.compile(rf"crossply-{re.escape(__version__)}-image-\w+\.tar: ([0-9.]+) MB .*(sha256:\w+)")


def build(directory: pathlib.Path) -> tuple[pathlib.Path, str]:
    """Build the image; its file and its digest."""
    done = run_tool("build_image.py", "--output", str(directory))
    assert done.returncode == 0, done.stderr
    match = ARCHIVE.search(done.stdout)
    assert match, done.stdout
    print(done.stdout)
    [path] = directory.glob("*.tar")
    return path, match.group(2)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, str]:
    return build(tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="module")
def containers(built: tuple[pathlib.Path, str], tmp_path_factory: pytest.TempPathFactory) -> ImageContainers:
    return ImageContainers(built[0], tmp_path_factory.mktemp("containers"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server"), "--in-memory").start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def kubeconfig(server: Server, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A directory with a kubeconfig that any user may read."""
    directory = tmp_path_factory.mktemp("kubeconfig")
    (directory / "config").write_text(pathlib.Path(server.kubeconfig).read_text())
    (directory / "config").chmod(0o444)
    directory.chmod(0o755)
    return directory


def test_a_second_build_gives_the_same_digest(
    built: tuple[pathlib.Path, str], tmp_path: pathlib.Path
) -> None:
    second, its_digest = build(tmp_path)
    assert its_digest == built[1]
    assert second.read_bytes() == built[0].read_bytes()


def test_the_archive_has_the_image_of_that_digest(
    built: tuple[pathlib.Path, str], containers: ImageContainers
) -> None:
    assert digest(containers.image) == built[1]


def test_any_user_runs_it_and_writes_nowhere_but_to_tmp(containers: ImageContainers) -> None:
    assert containers.run(SOMEBODY, "--version").stdout == f"crossply v{__version__}\n"
    code = (
        "import os\n"
        "for place in ('/', '/opt/crossply', '/etc', '/usr'):\n"
        "    try: open(f'{place}/x', 'w')\n"
        "    except OSError as problem: print(place, problem.strerror)\n"
        "open('/tmp/x', 'w').close(); print(os.getuid())\n"
    )
    done = containers.run(SOMEBODY, "python3", "-c", code, entrypoint=False)
    refused = "".join(f"{place} Read-only file system\n" for place in ("/", "/opt/crossply", "/etc", "/usr"))
    assert done.stdout == f"{refused}{SOMEBODY}\n", done.stderr


def test_there_is_no_shell_no_package_manager_and_no_program_with_privileges(
    containers: ImageContainers,
) -> None:
    programs = {path.name for path in (containers.root / "usr/bin").iterdir()}
    assert programs <= {"python3", "python3.13", "py3versions"}
    assert not list(containers.root.rglob("pip"))
    assert containers.image.inner["User"] == "65532:65532"


def test_the_bill_of_materials_lists_the_installed_packages(
    built: tuple[pathlib.Path, str], containers: ImageContainers
) -> None:
    [beside] = built[0].parent.glob("*.cdx.json")
    inside = containers.root / "usr/share/sbom/crossply.cdx.json"
    assert inside.read_bytes() == beside.read_bytes()
    bill = json.loads(beside.read_text())
    listed = {component["name"] for component in bill["components"]}
    code = "import importlib.metadata as m; print(*{d.metadata['Name'] for d in m.distributions()})"
    done = containers.run(SOMEBODY, "python3", "-c", code, entrypoint=False)
    packages = {path.name for path in (containers.root / "var/lib/dpkg/status.d").iterdir()}
    assert listed == {*done.stdout.split(), *packages}
    assert len(packages) > 10
    assert f"pkg:pypi/crossply@{__version__}" in {component["purl"] for component in bill["components"]}


def test_it_serves_a_built_in_function(containers: ImageContainers) -> None:
    port = free_port()
    words = ("function", "serve", "auto-ready", "--insecure", "--address", f"127.0.0.1:{port}")
    with containers.running(SOMEBODY, *words), grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        check = health_pb2_grpc.HealthStub(channel).Check
        status = check(health_pb2.HealthCheckRequest(), wait_for_ready=True, timeout=60).status
    assert status == health_pb2.HealthCheckResponse.SERVING


def test_it_serves_the_dashboard(containers: ImageContainers, kubeconfig: pathlib.Path) -> None:
    words = ("ui", "--no-open", "--kubeconfig", f"/tmp/{kubeconfig.name}/config")
    with containers.running(SOMEBODY, *words, mounts=(kubeconfig,)) as process:
        lines = iter(process.stdout.readline, "")
        address = next(match[0] for line in lines if (match := re.search(r"http://\S+", line)))
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        page = opener.open(address, timeout=60).read().decode()
    assert "<title>" in page


def test_it_runs_the_controllers_with_functions_in_their_sandbox(
    containers: ImageContainers, server: Server, kubeconfig: pathlib.Path
) -> None:
    ports = ("--metrics-port=0", "--health-probe-port=0", "--enable-webhooks=false")
    words = ("controller", "--kubeconfig", f"/tmp/{kubeconfig.name}/config", *ports)
    with containers.running(SOMEBODY, *words, mounts=(kubeconfig,)) as process:
        lines = iter(process.stdout.readline, "")
        ready_line = next((line for line in lines if "ready" in line), "")
        assert "control plane ready" in ready_line
        asyncio.run(compose(server))


async def compose(server: Server) -> None:
    async with Client(server.config) as client:
        scenario = await Scenario.begin(client, "image")
        things = await Things.defined(scenario)
        await scenario.function("function-starlark", STARLARK)
        about = {"apiVersion": "example.org/v1", "kind": "Input", "spec": {"source": PROGRAM}}
        await things.compose({"step": "one", "functionRef": {"name": "function-starlark"}, "input": about})
        await things.apply("mine", {"size": "3"})
        xr = await things.until("mine", READY)
        assert (await things.composed(xr))["one"]["data"] == {"size": "3"}
