"""`crossply up` on a disk without any space left."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Iterator

import pytest

from tests.support.cli.up_process import Plane, eventually, plane_at
from tests.support.programs import needs
from tests.support.small_disk import fill, small_disk

_QUICK_START = pathlib.Path(__file__).parents[2] / "examples" / "00-quick-start"

pytestmark = needs("kubectl")


@pytest.fixture
def plane(tmp_path: pathlib.Path) -> Iterator[Plane]:
    with small_disk(tmp_path / "disk", "96m") as disk, plane_at(disk / "data") as plane:
        yield plane


def _kubectl(plane: Plane, *words: str) -> str:
    command = ["kubectl", "--kubeconfig", str(plane.data / "kubeconfig"), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


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


def test_a_composite_resource_goes_with_all_it_is_made_of_on_a_full_disk(plane: Plane) -> None:
    """Foreground deletion, in which finalizers are set and removed."""
    assert plane.up().returncode == 0
    _kubectl(plane, "apply", "-f", str(_QUICK_START / "definition.yaml"))
    _kubectl(plane, "wait", "--for=condition=Established", "xrd", "--all", "--timeout=60s")
    for name in ("functions", "composition", "xr"):
        _kubectl(plane, "apply", "-f", str(_QUICK_START / f"{name}.yaml"))
    _kubectl(plane, "wait", "--for=condition=Ready", "site", "--all", "--timeout=60s")
    assert "configmap/hello-" in _kubectl(plane, "get", "configmaps", "--output=name")
    fill(plane.data.parent)
    _kubectl(plane, "delete", "site", "hello", "--cascade=foreground", "--timeout=60s")
    eventually(lambda: "configmap/hello-" not in _kubectl(plane, "get", "configmaps", "--output=name"))


def test_a_start_with_everything_in_place_writes_only_who_runs_and_what_is_logged(plane: Plane) -> None:
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
    }


def _files(directory: pathlib.Path) -> dict[str, tuple[int, int]]:
    """Every file, with what changes when it is written or replaced."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}
