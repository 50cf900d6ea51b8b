"""Checks of this machine: Python, the container runtime, disk space, and a control plane that runs here."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping

from crossply.cli.doctor.finding import FAIL, OK, WARN, Finding
from crossply.errors import CrossplyError

_OLDEST_PYTHON = (3, 11)
_COMPILED = ("cel_expr_python.cel", "grpc", "re2")
"""Packages in C++, which need its standard library; pip does not install it."""
_GIB = 1 << 30
_LITTLE, _TOO_LITTLE = 2 * _GIB, _GIB // 4
_CGROUP = "/sys/fs/cgroup"
_USER_NAMESPACES = {
    "user.max_user_namespaces": "0",
    "kernel.unprivileged_userns_clone": "0",
    "kernel.apparmor_restrict_unprivileged_userns": "1",
}
"""Settings of the kernel, each with the value that forbids them."""


def check_machine(environ: Mapping[str, str], data: str) -> Iterator[Finding]:
    """All of them; `data` is the data directory of `crossply up`."""
    yield _python()
    yield check_compiled_packages()
    yield from _containers(environ)
    yield _disk("disk of the data directory", data)
    from crossply.containers.settings import store_directory

    yield _disk("disk of the image store", store_directory(environ))
    yield _data_directory(data)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < _OLDEST_PYTHON:
        return Finding("python", FAIL, f"Python {version} is too old", "install Python 3.11 or later")
    return Finding("python", OK, f"Python {version}")


def check_compiled_packages(names: tuple[str, ...] = _COMPILED) -> Finding:
    """Compiled packages need libraries of the system, which a minimal image may not have."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as problem:
            fix = "install the library that is missing: apt install libstdc++6, or dnf install libstdc++"
            return Finding("compiled packages", FAIL, f"{name} cannot be imported: {problem}", fix)
    return Finding("compiled packages", OK, "can be imported")


def _containers(environ: Mapping[str, str]) -> Iterator[Finding]:
    from crossply.containers.oci_runtime import find_engine
    from crossply.containers.pasta import find_pasta

    try:
        engine = find_engine("", environ)
        yield Finding("container runtime", OK, f"{engine.name} at {engine.path}")
    except CrossplyError as problem:
        fix = "apt install crun (packages that run in containers need it; built-in functions do not)"
        yield Finding("container runtime", WARN, str(problem), fix)
    if os.path.exists(os.path.join(_CGROUP, "cgroup.controllers")):
        yield Finding("control groups", OK, "version 2")
    elif os.path.isdir(os.path.join(_CGROUP, "memory")):
        yield Finding("control groups", OK, "version 1")
    else:
        yield Finding(
            "control groups",
            WARN,
            f"none at {_CGROUP}: limits of containers cannot be enforced",
            "mount cgroup2, or run where it is mounted",
        )
    yield check_user_namespaces(os.geteuid() == 0)
    pasta = find_pasta(environ)
    if pasta:
        yield Finding("container network", OK, f"pasta at {pasta}")
    else:
        fix = "apt install passt, or start with crossply up --provider-network=host"
        yield Finding("container network", WARN, "pasta is not installed: Providers cannot run in it", fix)


def check_user_namespaces(is_root: bool, root: str = "/proc/sys") -> Finding:
    """Containers are started in user namespaces, which some systems forbid to ordinary users."""
    check = "user namespaces"
    for setting, forbidding in _USER_NAMESPACES.items():
        try:
            with open(os.path.join(root, *setting.split("."))) as file:
                value = file.read().strip()
        except OSError:
            continue
        if value == forbidding and not is_root:
            allowed = "1" if setting.endswith("clone") else "0" if forbidding == "1" else "15000"
            text = f"{setting} is {value}: containers cannot be started by ordinary users"
            return Finding(check, WARN, text, f"sudo sysctl {setting}={allowed}")
    return Finding(check, OK, "allowed")


def _disk(check: str, directory: str) -> Finding:
    import shutil

    existing = os.path.abspath(directory)
    while not os.path.exists(existing):
        existing = os.path.dirname(existing)
    free = shutil.disk_usage(existing).free
    text = f"{free / _GIB:.1f} GiB free at {existing}"
    if free >= _LITTLE:
        return Finding(check, OK, text)
    return Finding(check, FAIL if free < _TOO_LITTLE else WARN, text, f"free space: du -xh -d1 {existing}")


def _data_directory(data: str) -> Finding:
    from crossply.cli.local_control_plane.data_directory import check_owner
    from crossply.cli.local_control_plane.lock import is_locked, running

    check = "control plane here"
    if not os.path.isdir(data):
        return Finding(check, OK, f"none was started in {data}")
    try:
        check_owner(data)
        process, locked = running(data), is_locked(data)
    except (CrossplyError, OSError) as problem:
        return Finding(check, FAIL, str(problem), getattr(problem, "hint", ""))
    if process is not None:
        return Finding(check, OK, f"process {process.pid} runs on {data}")
    if locked:
        return Finding(
            check,
            WARN,
            f"{data} is locked, but no crossply up runs: one is starting or ending",
            f"wait, or: crossply down --data {data}",
        )
    return Finding(check, WARN, f"it does not run on {data}", f"crossply up --detach --data {data}")
