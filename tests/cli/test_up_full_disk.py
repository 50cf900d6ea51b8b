"""`crossply up` on a disk without any space left."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Iterator

import pytest

from tests.support.cli.up_process import Plane, eventually, plane_at
from tests.support.programs import needs
from tests.support.small_disk import fill, small_disk

_DEFINITION = """
apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata: {name: sites.disk.example.org}
spec:
  group: disk.example.org
  scope: Namespaced
  names: {kind: Site, plural: sites}
  versions:
  - name: v1
    served: true
    referenceable: true
    schema: {openAPIV3Schema: {type: object}}
"""
_COMPOSITION_AND_SITE = """
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-patch-and-transform}
spec: {package: "xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.9.0"}
---
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: sites}
spec:
  compositeTypeRef: {apiVersion: disk.example.org/v1, kind: Site}
  mode: Pipeline
  pipeline:
  - step: compose
    functionRef: {name: function-patch-and-transform}
    input:
      apiVersion: pt.fn.crossplane.io/v1beta1
      kind: Resources
      resources:
      - name: page
        base: {apiVersion: v1, kind: ConfigMap, data: {page: Hello}}
        readinessChecks: [{type: None}]
      - name: settings
        base: {apiVersion: v1, kind: ConfigMap, data: {language: en}}
        readinessChecks: [{type: None}]
---
apiVersion: disk.example.org/v1
kind: Site
metadata: {name: hello, namespace: default}
spec: {}
"""

pytestmark = needs("kubectl")


@pytest.fixture
def plane(tmp_path: pathlib.Path) -> Iterator[Plane]:
    with small_disk(tmp_path / "disk", "96m") as disk, plane_at(disk / "data") as plane:
        yield plane


def _kubectl(plane: Plane, *words: str, manifests: str = "") -> str:
    command = ["kubectl", "--kubeconfig", str(plane.data / "kubeconfig"), *words]
    return subprocess.run(
        command, input=manifests, check=True, capture_output=True, text=True, timeout=120
    ).stdout


def test_it_starts_on_a_full_disk_and_objects_are_deleted(plane: Plane) -> None:
    assert plane.up().returncode == 0
    _kubectl(plane, "create", "namespace", "team")
    _kubectl(plane, "create", "configmap", "kept", "--namespace=team", "--from-literal=text=x")
    plane.down()
    fill(plane.data.parent)
    started = plane.up()
    assert started.returncode == 0, started.stderr
    assert _kubectl(plane, "get", "configmap", "kept", "--namespace=team", "--output=name")
    _kubectl(plane, "delete", "namespace", "team")
    assert "team" not in _kubectl(plane, "get", "namespaces", "--output=name")
    assert "Traceback" not in plane.log
    assert plane.down()


def test_a_composite_resource_is_deleted_with_its_resources_on_a_full_disk(plane: Plane) -> None:
    """Foreground deletion, in which finalizers are set and removed."""
    assert plane.up().returncode == 0
    _kubectl(plane, "apply", "-f", "-", manifests=_DEFINITION)
    _kubectl(plane, "wait", "--for=condition=Established", "xrd", "--all", "--timeout=60s")
    _kubectl(plane, "apply", "-f", "-", manifests=_COMPOSITION_AND_SITE)
    _kubectl(plane, "wait", "--for=condition=Ready", "site", "--all", "--timeout=60s")
    assert "configmap/hello-" in _kubectl(plane, "get", "configmaps", "--output=name")
    fill(plane.data.parent)
    _kubectl(plane, "delete", "site", "hello", "--cascade=foreground", "--timeout=60s")
    eventually(lambda: "configmap/hello-" not in _kubectl(plane, "get", "configmaps", "--output=name"))


def test_a_settled_start_writes_only_process_files_and_logs(plane: Plane) -> None:
    assert plane.up().returncode == 0
    plane.down()
    before = _files(plane.data)
    assert plane.up().returncode == 0
    changed = {path for path, state in _files(plane.data).items() if before.get(path) != state}
    # Certificates for calling functions are there only as long as it runs.
    changed = {path for path in changed if not path.startswith("credentials/")}
    assert changed <= {
        "lock",
        "up.lock",
        "up.log",
        "data/lock",
        "data/crossply.db-wal",
        "data/crossply.db-mark",
        "dashboard",  # where it listens
        "runs/runs.db-wal",
        "runs/runs.db-shm",
        "runs/runs.journal-0",  # empty
        "runs/runs.journal-1",
    }


def _files(directory: pathlib.Path) -> dict[str, tuple[int, int]]:
    """Every file, with what changes when it is written or replaced."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}
