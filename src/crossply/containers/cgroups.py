"""Control groups of containers, in version 1 or 2: one for each container, below our own.

The kernel enforces a container's limits with them. `limit_enforcement` reports which limits cannot be
enforced.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from typing import NamedTuple

from crossply.containers.failures import ContainerError
from crossply.containers.settings import Limits

MEMORY, CPU, PIDS = "memory", "cpu", "pids"
_PERIOD = 100_000
_INDISPENSABLE = ("memory.limit_in_bytes", "memory.max", "pids.max")
_TIMEOUT, _INTERVAL = 100, 0.01
_GROUP_NAME = re.compile(r"crossply-(\d+)-[a-z0-9]+")
_ROOT = "/sys/fs/cgroup"
_BOUNDS = {MEMORY: "memory.limit_in_bytes", CPU: "cpu.cfs_quota_us", PIDS: "pids.max"}
"""The file of version 1 that a controller must have to be of use: kernels can be built without it."""


class CgroupHierarchies(NamedTuple):
    """Where groups can be made."""

    version: int
    directories: dict[str, str]
    """For each controller that we may use; in version 2 it is the same directory for all."""


class Cgroup(NamedTuple):
    """The groups of one container."""

    version: int
    paths: tuple[str, ...]
    memory: str
    """The one that counts memory; empty where none does."""

    @contextlib.contextmanager
    def opened(self) -> Iterator[list[int]]:
        """Files whose writers can move processes into the groups."""
        with contextlib.ExitStack() as stack:
            # Moving a single thread that is its own does not make the kernel wait for all processors.
            file = "tasks" if self.version == 1 else "cgroup.procs"
            files = (os.path.join(path, file) for path in self.paths)
            yield [stack.enter_context(open(path, "wb", buffering=0)).fileno() for path in files]

    def killed_for_memory(self) -> bool:
        """Return whether the kernel ended one of its processes because of its memory."""
        file = "memory.events" if self.version == 2 else "memory.oom_control"
        with contextlib.suppress(OSError, ValueError):
            for line in _read(os.path.join(self.memory, file)).splitlines():
                name, _, count = line.partition(" ")
                if name == "oom_kill":
                    return int(count) > 0
        return False

    def remove(self) -> None:
        """Remove the groups; the last process in them may take a moment to be gone."""
        for path in self.paths:
            for _ in range(_TIMEOUT):
                try:
                    os.rmdir(path)
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(_INTERVAL)


def find_places(root: str = _ROOT) -> CgroupHierarchies:
    """The directories in which we may create groups; removes orphaned groups of ours."""
    if os.path.exists(os.path.join(root, "cgroup.controllers")):
        return CgroupHierarchies(2, _version_2(root))
    usable = {name: path for name, path in _version_1() if name in _BOUNDS and _usable(path, _BOUNDS[name])}
    for path in set(usable.values()):
        _remove_orphans(path)
    return CgroupHierarchies(1, usable)


def make_group(places: CgroupHierarchies, key: str, limits: Limits) -> Cgroup:
    """Make the groups of a container, with its limits."""
    name = f"crossply-{os.getpid()}-{key}"
    paths = {controller: os.path.join(place, name) for controller, place in places.directories.items()}
    group = Cgroup(places.version, tuple(dict.fromkeys(paths.values())), paths.get(MEMORY, ""))
    try:
        for controller, path in paths.items():
            os.makedirs(path, exist_ok=True)
            for file, value in _values(places.version, controller, limits):
                _set(path, file, value)
    except BaseException:
        group.remove()
        raise
    return group


def _set(path: str, file: str, value: str) -> None:
    """Set a limit. One that could not be held must not be passed over; the others are there on newer kernels.

    A share of the processor may be refused where we ourselves have less than that, which then counts.
    """
    try:
        with open(os.path.join(path, file), "w", encoding="ascii") as opened:
            opened.write(value)
    except OSError as problem:
        if file in _INDISPENSABLE:
            reason = (problem.strerror or "").lower()
            raise ContainerError(f"cannot set its limit {file} to {value}: {reason}") from None


def _values(version: int, controller: str, limits: Limits) -> list[tuple[str, str]]:
    if controller == PIDS:
        return [("pids.max", str(limits.pids))]
    quota = max(1000, int(limits.cpu * _PERIOD))
    if version == 2:
        if controller == CPU:
            return [("cpu.max", f"{quota} {_PERIOD}")]
        return [("memory.max", str(limits.memory)), ("memory.swap.max", "0"), ("memory.oom.group", "1")]
    if controller == CPU:
        return [("cpu.cfs_period_us", str(_PERIOD)), ("cpu.cfs_quota_us", str(quota))]
    return [
        ("memory.limit_in_bytes", str(limits.memory)),
        ("memory.memsw.limit_in_bytes", str(limits.memory)),
    ]


def _version_1() -> Iterator[tuple[str, str]]:
    """Our own group of each controller, where it is mounted."""
    mounts = {}
    for line in _read("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind == "cgroup":
            for option in options.rpartition(" ")[2].split(","):
                mounts[option] = (before.split(" ")[4], before.split(" ")[3])
    for line in _read("/proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            if name in mounts:
                point, root = mounts[name]
                inner = path[len(root) :] if root != "/" and path.startswith(root) else path
                yield name, os.path.join(point, inner.strip("/"))


def _version_2(root: str) -> dict[str, str]:
    """Where version 2 lets us make groups: root beside all others, a user in a group that was given to them.

    A group that has processes cannot be divided, and ours has; the one around it may be ours as well.
    """
    own = os.path.join(root, _read("/proc/self/cgroup").strip().removeprefix("0::").strip("/"))
    for base in [root] if os.geteuid() == 0 else [own, os.path.dirname(own)]:
        directory = os.path.join(base, "crossply")
        try:
            _enable(base)
            os.makedirs(directory, exist_ok=True)
            _enable(directory)
        except OSError:
            continue
        _remove_orphans(directory)
        enabled = _read(os.path.join(directory, "cgroup.subtree_control")).split()
        return {name: directory for name in (MEMORY, CPU, PIDS) if name in enabled}
    return {}


def _enable(directory: str) -> None:
    there = _read(os.path.join(directory, "cgroup.controllers")).split()
    done = _read(os.path.join(directory, "cgroup.subtree_control")).split()
    for name in (MEMORY, CPU, PIDS):
        if name in there and name not in done:
            _write(os.path.join(directory, "cgroup.subtree_control"), f"+{name}")


def _usable(path: str, file: str) -> bool:
    probe = os.path.join(path, f"crossply-{os.getpid()}-probe")
    try:
        os.mkdir(probe)
        has_file = os.path.exists(os.path.join(probe, file))
        os.rmdir(probe)
    except OSError:
        return False
    return has_file


def _remove_orphans(directory: str) -> None:
    """Remove the groups of containers whose process is gone."""
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            match = _GROUP_NAME.fullmatch(name)
            if match and not os.path.exists(f"/proc/{match[1]}"):
                with contextlib.suppress(OSError):
                    os.rmdir(os.path.join(directory, name))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def _write(path: str, value: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(value)
