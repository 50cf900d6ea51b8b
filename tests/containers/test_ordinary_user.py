"""Containers of an ordinary user without control groups: limits the kernel cannot enforce are watched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import crossply
from crossply.containers.cgroups import find_places
from crossply.containers.limit_enforcement import (
    BY_CGROUP,
    BY_NOTHING,
    BY_RLIMIT,
    BY_WATCHING,
    EnforcedLimits,
)
from tests.support.container_images import program

pytestmark = pytest.mark.xdist_group("containers")

SOMEBODY = 4321
PROGRAM = """
import sys
from crossply.compose.function_messages import Request, Resource, State
from crossply.containers.failures import ContainerError
from crossply.containers.limit_enforcement import enforced_limits
from crossply.containers.run_to_completion import run_once
from crossply.containers.served_container import ServedContainer
from crossply.containers.settings import MEBIBYTE, Limits, Settings
from crossply.containers.image_store import Store
from crossply.functions.remote import Remote
from crossply.xpkg.image import digest
from tests.support.images import archive, image, member

made = image(archive([member("function", open(sys.argv[1], "rb").read(), mode=0o755)]))
made = made._replace(config={**made.config, "config": {"Entrypoint": ["/function"], "User": "65532"}})
stored = Store(sys.argv[2]).add(made, digest(made))
settings = Settings(engine=sys.argv[3], limits=Limits(memory=64 * MEBIBYTE, pids=48))
print(enforced_limits().warning())
container = ServedContainer("f", stored, settings)
remote = Remote("f", container.target(30))
request = Request(State(Resource({})), State(None, {"r": Resource({"kind": "Thing"})}))
print(remote(request, 10).desired.resources["r"].object)
remote.close()
container.close()
for word in ("hog", "fork", "look"):
    try:
        print(run_once(stored, b"", settings._replace(arguments=(word,))).stdout.decode())
    except ContainerError as problem:
        print(problem)
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory of a user other than root, with the Go function in it."""
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED AS AN ORDINARY USER: it takes root to become one")
    directory = Path(tempfile.mkdtemp(prefix="crossply-home-", dir="/tmp"))
    (directory / "function").write_bytes(program())
    for path in (directory, directory / "function"):
        os.chown(path, SOMEBODY, SOMEBODY)
    yield directory
    shutil.rmtree(directory)


def test_functions_run_and_are_limited_without_any_privilege(engine: str, home: Path) -> None:
    places = [sysconfig.get_path("purelib"), Path(crossply.__file__).parents[1], Path(__file__).parents[2]]
    environ = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(map(str, places)),
    }
    command = [interpreter(), "-c", PROGRAM, str(home / "function"), str(home / "store"), engine]
    done = subprocess.run(
        command, user=SOMEBODY, group=SOMEBODY, extra_groups=[], env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    warning, answer, hog, *rest = done.stdout.splitlines()
    if find_places().version == 1:
        assert warning.startswith("nothing holds the limit of cpu; memory is watched twenty times a second")
    assert answer == "{'kind': 'Thing'}"
    assert hog == "the function was killed: it exceeded its 64 MiB"
    assert "resource temporarily unavailable" in rest[0]
    assert "map 0 0 1" in rest, "the one identity there is"


def interpreter() -> str:
    """A Python that another user can start: ours may be in a home directory."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for path in (sys.executable, f"/usr/bin/python{version}", f"/usr/local/bin/python{version}"):
        try:
            done = subprocess.run([path, "-c", ""], user=SOMEBODY, group=SOMEBODY, capture_output=True)
        except OSError:
            continue
        if done.returncode == 0:
            return path
    pytest.skip(f"NOT TESTED AS AN ORDINARY USER: no Python {version} that others may start")


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (EnforcedLimits(BY_CGROUP, BY_CGROUP, BY_CGROUP), ""),
        (
            EnforcedLimits(BY_WATCHING, BY_NOTHING, BY_RLIMIT),
            "nothing holds the limit of cpu; memory is watched twenty times a second, not bounded by the "
            "kernel; processes are bounded by a limit of the user, not of the container: this process may "
            "not make control groups (cgroups) here",
        ),
        (
            EnforcedLimits(BY_CGROUP, BY_NOTHING, BY_CGROUP),
            "nothing holds the limit of cpu: this process may not make control groups (cgroups) here",
        ),
    ],
)
def test_unenforced_limits_give_a_warning(limits: EnforcedLimits, message: str) -> None:
    assert limits.warning() == message
    assert limits.unheld == (("cpu",) if limits.cpu == BY_NOTHING else ())
