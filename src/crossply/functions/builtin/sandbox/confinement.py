"""Confinement of a worker before it runs a user program. It cannot be undone.

Three layers:

* resource limits: memory (on Linux), and no new descriptors, so no file, socket or pipe can be opened;
* new namespaces for users, network, mounts and IPC, where the kernel allows them: no rights over the
  machine and an empty network;
* on Linux a seccomp filter of system calls, the strongest layer: whatever a program reaches inside the
  interpreter, the kernel refuses. It allows calls that use memory, read the time, handle the worker's own
  signals, and read and write open descriptors. All others fail with EPERM.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import struct
from collections.abc import Mapping

from crossply.functions.builtin.sandbox.file_call_emulation import handle_traps
from crossply.functions.builtin.sandbox.limit_constants import MEMORY
from crossply.functions.builtin.sandbox.system_call_numbers import FIRST_VIRTUAL_DESCRIPTOR, SYSTEM_CALLS
from crossply.functions.builtin.sandbox.virtual_files import VirtualFiles

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x10000000 | 0x40000000  # mounts, messages, users, network


class _Program(ctypes.Structure):
    """`struct sock_fprog` of `prctl`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def confine(files: Mapping[str, bytes] | None = None) -> None:
    """Confine this process; OSError when the kernel refuses a required layer.

    `files` are all that it can read by path afterwards (see `trapped_calls`). With None, such calls fail with
    EPERM.
    """
    machine = os.uname().machine if os.uname().sysname == "Linux" else ""
    library = ctypes.CDLL(None, use_errno=True)
    if machine:
        _limit_memory()
        library.unshare(_NEW_NAMESPACES)  # containers often forbid it; the other layers do not need it
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
        resource.setrlimit(limit, (0, 0))
    instructions = filter_program(machine, traps_files=files is not None)
    if files is not None:
        if instructions is None:
            raise OSError(errno.ENOSYS, "programs with files need Linux on x86-64 or ARM64")
        handle_traps(VirtualFiles(files), machine, library)
    if instructions is not None:
        _install(library, instructions)


def _limit_memory() -> None:
    """Limit the address space to what the process has already plus MEMORY."""
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
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))


_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_GREATER_OR_EQUAL, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _TRAP = 0x7FFF0000, 0x00050001, 0x00030000  # _REFUSE: errno 1, EPERM
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in `struct seccomp_data`
_TO_CHECK, _TO_ALLOW, _TO_TRAP = 1, 3, 4  # instructions behind the tests: refuse, load, compare, allow, trap

_X32 = 0x40000000
"""Numbers from here on belong to the x32 ABI."""


def filter_program(machine: str, traps_files: bool = False) -> bytes | None:
    """The seccomp filter of a machine, eight bytes for each instruction; None for an unsupported machine.

    With `traps_files`, calls that read files, and calls on virtual descriptors, send SIGSYS instead.
    """
    calls = SYSTEM_CALLS.get(machine)
    if calls is None:
        return None
    checked = set(calls.on_descriptors.values()) if traps_files else set()
    trapped = sorted(calls.on_paths.values()) if traps_files else []
    allowed = sorted(set(calls.computing.values()) - checked)
    tests = [*((number, _TO_ALLOW) for number in allowed)]
    tests += [
        *((number, _TO_TRAP) for number in trapped),
        *((number, _TO_CHECK) for number in sorted(checked)),
    ]
    program = [
        _instruction(_LOAD, 0, 0, _ARCHITECTURE),
        _instruction(_JUMP_IF_EQUAL, 1, 0, calls.architecture),
        _instruction(_RETURN, 0, 0, _REFUSE),
        _instruction(_LOAD, 0, 0, _NUMBER),
        _instruction(_JUMP_IF_GREATER_OR_EQUAL, len(tests), 0, _X32),
    ]
    for index, (number, target) in enumerate(tests):
        program.append(_instruction(_JUMP_IF_EQUAL, len(tests) - index - 1 + target, 0, number))
    program += [
        _instruction(_RETURN, 0, 0, _REFUSE),
        _instruction(_LOAD, 0, 0, _FIRST_ARGUMENT),
        _instruction(_JUMP_IF_GREATER_OR_EQUAL, 1, 0, FIRST_VIRTUAL_DESCRIPTOR),
        _instruction(_RETURN, 0, 0, _ALLOW),
        _instruction(_RETURN, 0, 0, _TRAP),
    ]
    return b"".join(program)


def _instruction(code: int, if_true: int, if_false: int, operand: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)
