"""What a worker gives up before it runs a line of a user's program. There is no way back.

Three walls, one behind the other:

* limits of the kernel: memory (on Linux), and no descriptor more than it has, so no file, socket or pipe can
  be opened;
* namespaces of its own for users, network, mounts and messages, where the kernel grants them: without rights
  over the machine, and on an empty network;
* on Linux a filter of system calls (`system_calls`), which is the strongest of the three: whatever a program
  reaches inside the interpreter, the kernel refuses.
"""

from __future__ import annotations

import ctypes
import os
import resource

from crossply.functions.builtin.confined.limits import MEMORY
from crossply.functions.builtin.confined.system_calls import filter_program

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x10000000 | 0x40000000  # mounts, messages, users, network


class _Program(ctypes.Structure):
    """A filter as `prctl` takes it."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def confine() -> None:
    """Go behind the walls; OSError if the kernel refuses one that must stand."""
    machine = os.uname().machine if os.uname().sysname == "Linux" else ""
    library = ctypes.CDLL(None, use_errno=True)
    if machine:
        _limit_memory()
        library.unshare(_NEW_NAMESPACES)  # containers often forbid it: the other walls stand without it
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
        resource.setrlimit(limit, (0, 0))
    instructions = filter_program(machine)
    if instructions is not None:
        _install(library, instructions)


def _limit_memory() -> None:
    """Bound the address space, counted from what the process has already."""
    with open("/proc/self/statm", "rb") as file:
        in_use = int(file.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    allowed = in_use + MEMORY
    if hard != resource.RLIM_INFINITY:
        allowed = min(allowed, hard)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def _install(library: ctypes.CDLL, instructions: bytes) -> None:
    program = _Program(len(instructions) // 8, instructions)
    for arguments in ((_NO_NEW_PRIVILEGES, 1, 0), (_SECCOMP, _FILTER, ctypes.byref(program))):
        if library.prctl(*arguments, 0, 0):
            problem = ctypes.get_errno()
            raise OSError(problem, os.strerror(problem))
