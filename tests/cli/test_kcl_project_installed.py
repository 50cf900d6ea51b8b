"""The KCL project among the examples is tested, built, pushed, installed, edited and recomposed.

Everything is done with commands that its author would use. A registry stands in for the published one, which
has an image with Python; function-auto-ready is built in.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from crossply.containers.failures import ContainerError
from crossply.containers.launcher_client import current_launcher
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.kind import Kind
from crossply.xpkg.image import Image
from tests.support.cli.up_process import CROSSPLY, Plane, plane_at
from tests.support.docs.python_image import python_image
from tests.support.patience import PATIENCE
from tests.support.programs import require
from tests.support.registry import docker_registry, pushed

pytest.importorskip("kcl_lib")
pytestmark = pytest.mark.xdist_group("containers")
EXAMPLE = Path(__file__).parents[2] / "examples" / "17-kcl-project"
WORKSHOP = Kind("events.example.org", "v1alpha1", "Workshop", "workshops", True)
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
CONFIGURATION = Kind("pkg.crossplane.io", "v1", "Configuration", "configurations", False)
CONSTRAINT_DIGEST = re.compile(r"is incompatible with constraint (sha256:[0-9a-f]{64})")
PLAN = "crossplane.io/composition-resource-name"


def base_image() -> Image:
    """An image with the Python that runs this test: so nothing has to be fetched from an index."""
    image = python_image()
    version = f"PYTHON_VERSION={sys.version_info.major}.{sys.version_info.minor}"
    inner = {**image.inner, "Env": [*image.inner["Env"], version]}
    return image._replace(config={**image.config, "config": inner})


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    require("docker-registry", "crun")
    try:
        current_launcher()
    except ContainerError as problem:
        pytest.skip(f"CONTAINERS ARE NOT TESTED: {problem} ({problem.hint})")
    (tmp_path / "registry").mkdir()
    with docker_registry(tmp_path / "registry") as address:
        pushed(address, base_image(), "mirror/distroless/python3-debian13:nonroot")
        yield address


class Author:
    """The author of the project, in its folder."""

    def __init__(self, folder: Path, plane: Plane) -> None:
        self.folder = folder
        self._plane = plane

    def does(self, *words: str) -> str:
        """Run a command that works."""
        environ = {**os.environ, "PIP_NO_INDEX": "1", "KUBECONFIG": str(self._plane.data / "kubeconfig")}
        done = subprocess.run(
            [CROSSPLY, *words], cwd=self.folder, env=environ, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}\n{self._plane.log[-3000:]}"
        return done.stdout

    def client(self) -> Client:
        return Client(load_config(environment={"KUBECONFIG": str(self._plane.data / "kubeconfig")}))

    def until(self, kind: Kind, name: str, check: Any) -> dict[str, Any]:
        """Wait until an object is so."""

        async def wait() -> dict[str, Any]:
            async with self.client() as client:
                end = time.monotonic() + 3 * PATIENCE
                while True:
                    obj = await client.get(kind, name, "default")
                    if obj is not None and check(obj):
                        return obj
                    assert time.monotonic() < end, f"never: {obj}\n{self._plane.log[-3000:]}"
                    await asyncio.sleep(0.3)

        return asyncio.run(wait())

    def plan_of(self, workshop: dict[str, Any]) -> str:
        """The name of the ConfigMap that is the plan."""

        async def find() -> str:
            async with self.client() as client:
                for reference in workshop["spec"]["crossplane"]["resourceRefs"]:
                    obj = await client.get(CONFIG_MAP, reference["name"], "default")
                    if obj is not None and obj["metadata"]["annotations"][PLAN] == "plan":
                        return str(reference["name"])
            raise AssertionError(f"no plan: {workshop}")

        return asyncio.run(find())

    def applies(self, kind: Kind, obj: dict[str, Any]) -> None:
        async def apply() -> None:
            async with self.client() as client:
                await client.apply(kind, obj, "author")

        asyncio.run(apply())


@pytest.fixture
def author(tmp_path: Path, registry: str) -> Iterator[Author]:
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder, symlinks=True, ignore=shutil.ignore_patterns(".up", "_output"))
    file = folder / "upbound.yaml"
    project = yaml.safe_load(file.read_text())
    mirrors = [{"prefix": "gcr.io/"}]
    project["spec"] |= {
        "repository": f"{registry}/team/workshops",
        "architectures": ["arm64" if os.uname().machine == "aarch64" else "amd64"],
        "imageConfig": [{"matchImages": mirrors, "rewriteImage": {"prefix": f"{registry}/mirror/"}}],
    }
    file.write_text(yaml.safe_dump(project))
    with plane_at(tmp_path / "plane") as plane:
        started = plane.up("--in-memory", "--listen=127.0.0.1:0")
        assert started.returncode == 0, started.stderr
        yield Author(folder, plane)


def is_ready(obj: dict[str, Any]) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or []
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def constraint_digests(obj: dict[str, Any]) -> set[str]:
    """The digests of packages that the conditions of a Configuration ask for."""
    texts = [str(item.get("message", "")) for item in (obj.get("status") or {}).get("conditions") or []]
    return {digest for text in texts for digest in CONSTRAINT_DIGEST.findall(text)}


def test_a_kcl_project_is_tested_installed_edited_and_recomposed(author: Author, registry: str) -> None:
    assert "2 passed" in author.does("test")
    author.does("project", "build")
    author.does("project", "push", "--tag=v0.1.0")
    package_name = f"{registry}/team/workshops"
    author.does("xpkg", "install", "configuration", f"{package_name}:v0.1.0", "workshops", "--wait=5m")

    assert "✓ workshop-becomes-ready" in author.does("test", "--e2e")

    author.applies(WORKSHOP, yaml.safe_load((author.folder / "examples/workshop.yaml").read_text()))
    workshop = author.until(WORKSHOP, "kites", is_ready)
    assert workshop["status"]["benches"] == 3
    plan = author.plan_of(workshop)
    assert author.until(CONFIG_MAP, plan, bool)["data"] == {"theme": "kites", "benches": "3"}

    module = author.folder / "modules/layout/layout.k"
    module.write_text(module.read_text().replace("seatsOfBench = 2", "seatsOfBench = 1"))
    author.does("project", "build")
    author.does("project", "push", "--tag=v0.2.0")
    author.does("xpkg", "update", "configuration", f"{package_name}:v0.2.0", "workshops")
    # Dependencies are not upgraded by themselves. The Configuration names the function that it needs now.
    waiting = author.until(CONFIGURATION, "workshops", constraint_digests)
    [digest] = constraint_digests(waiting)
    author.does("xpkg", "update", "function", f"{package_name}_plan@{digest}", "team-workshopsplan")
    edited = author.until(CONFIG_MAP, plan, lambda obj: obj["data"]["benches"] == "5")
    assert edited["metadata"]["name"] == plan, "the same resource, composed anew"
    author.until(WORKSHOP, "kites", lambda obj: obj["status"]["benches"] == 5 and is_ready(obj))
