"""Which limits of a container can be enforced on this machine, and by what."""

from __future__ import annotations

import functools
from typing import NamedTuple

from crossply.containers import cgroups
from crossply.containers.cgroups import CPU, MEMORY, PIDS, CgroupHierarchies

BY_CGROUP, BY_WATCHING, BY_RLIMIT, BY_NOTHING = "cgroup", "watching", "rlimit", "nothing"


class EnforcedLimits(NamedTuple):
    """What holds each limit."""

    memory: str
    cpu: str
    pids: str

    @property
    def unheld(self) -> tuple[str, ...]:
        """The limits that nothing holds."""
        return tuple(name for name, by in zip(self._fields, self, strict=True) if by == BY_NOTHING)

    def warning(self) -> str:
        """A note for users; empty where the kernel enforces all limits."""
        messages = []
        if self.unheld:
            messages.append(f"nothing holds the limit of {' and '.join(self.unheld)}")
        if self.memory == BY_WATCHING:
            messages.append("memory is watched twenty times a second, not bounded by the kernel")
        if self.pids == BY_RLIMIT:
            messages.append("processes are bounded by a limit of the user, not of the container")
        if not messages:
            return ""
        return f"{'; '.join(messages)}: this process may not make control groups (cgroups) here"


@functools.cache
def places() -> CgroupHierarchies:
    """Where control groups can be made; looked up once."""
    return cgroups.find_places()


@functools.cache
def enforced_limits() -> EnforcedLimits:
    """What holds limits on this machine, for this user."""
    directories = places().directories
    return EnforcedLimits(
        memory=BY_CGROUP if MEMORY in directories else BY_WATCHING,
        cpu=BY_CGROUP if CPU in directories else BY_NOTHING,
        pids=BY_CGROUP if PIDS in directories else BY_RLIMIT,
    )
