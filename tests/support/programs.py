"""Programs that tests run and Python cannot bring.

A test names those that it uses, and is skipped without them.
"""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys

import pytest

DEBIAN = {
    "busybox": "busybox-static",
    "chromium": "chromium",
    "crun": "crun",
    "docker-registry": "docker-registry",
    "fish": "fish",
    "git": "git",
    "newuidmap": "uidmap",
    "openssl": "openssl",
    "pasta": "passt",
    "postgres": "postgresql",
    "promtool": "prometheus",
    "runc": "runc",
    "skopeo": "skopeo",
    "strace": "strace",
    "umoci": "umoci",
    "zsh": "zsh",
}
"""Programs and the packages of Debian that have them: what tools/system_packages.sh installs."""

ELSEWHERE = {
    "bash": "bash",
    "curl": "curl",
    "gcc": "gcc",
    "go": "Go 1.24 or newer, from https://go.dev/dl",
    "kubectl": "kubectl, from https://kubernetes.io/docs/tasks/tools",
    "make": "make",
    "podman": "podman",
}
"""Programs that more is needed for than a package, or that few tests use."""

ENGINE = "a container engine"
"""Either of crun and runc, on a system that lets us make the namespaces of containers."""

_OTHER_NAMES = {"docker-registry": ("registry",), ENGINE: ("crun", "runc")}
_OTHER_PLACES = (
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/go/bin",
    "/usr/lib/go/bin",
    *glob.glob("/usr/lib/postgresql/*/bin"),
)


@functools.cache
def find(program: str) -> str | None:
    """The path of a program, if it is installed; a busybox that is not static is of no use in images."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_OTHER_PLACES])
    names = (program, *_OTHER_NAMES.get(program, ()))
    program_path = next((place for name in names if (place := shutil.which(name, path=path))), None)
    return None if program == "busybox" and program_path and not _is_static(program_path) else program_path


def missing(*programs: str) -> str:
    """Why a test that uses programs cannot run, or "" where it can."""
    absent = [program for program in programs if find(program) is None]
    packages = [DEBIAN.get(program) or ELSEWHERE.get(program, "crun or runc") for program in absent]
    if absent:
        return f"NOT TESTED WITH {', '.join(absent)}: install {', '.join(packages)}"
    return _why_no_containers() if ENGINE in programs else ""


def needs(*programs: str) -> pytest.MarkDecorator:
    """Mark a test, or all of a module, that uses programs."""
    reason = missing(*programs)
    return pytest.mark.skipif(bool(reason), reason=reason)


def require(*programs: str) -> None:
    """Skip the test that is running, or the fixture's, where a program is missing."""
    reason = missing(*programs)
    if reason:
        pytest.skip(reason)


def path_of(program: str) -> str:
    """The path of a program; skips the test that is running without it."""
    require(program)
    program_path = find(program)
    assert program_path is not None
    return program_path


@functools.cache
def _why_no_containers() -> str:
    """Why namespaces cannot be used here, or "" where containers can be started."""
    probe = "from crossply.containers.launcher_client import current_launcher; current_launcher()"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return f"NOT TESTED IN CONTAINERS: {lines[-1]}" if done.returncode else ""


def _is_static(program: str) -> bool:
    """Whether a program needs no shared libraries."""
    return subprocess.run(["ldd", program], capture_output=True).returncode != 0
