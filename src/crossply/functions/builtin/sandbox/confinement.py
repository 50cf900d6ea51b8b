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
import os
import resource
import struct

from crossply.functions.builtin.sandbox.limits import MEMORY

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x10000000 | 0x40000000  # mounts, messages, users, network


class _Program(ctypes.Structure):
    """`struct sock_fprog` of `prctl`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def confine() -> None:
    """Confine this process; OSError when the kernel refuses a required layer."""
    machine = os.uname().machine if os.uname().sysname == "Linux" else ""
    library = ctypes.CDLL(None, use_errno=True)
    if machine:
        _limit_memory()
        library.unshare(_NEW_NAMESPACES)  # containers often forbid it; the other layers do not need it
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
        resource.setrlimit(limit, (0, 0))
    instructions = filter_program(machine)
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
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # _REFUSE: errno 1, EPERM
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in `struct seccomp_data`

_X32 = 0x40000000
"""Numbers from here on belong to the x32 ABI."""

_X86_64 = {
    "read": 0,
    "write": 1,
    "close": 3,
    "fstat": 5,
    "lseek": 8,
    "mmap": 9,
    "mprotect": 10,
    "munmap": 11,
    "brk": 12,
    "rt_sigaction": 13,
    "rt_sigprocmask": 14,
    "rt_sigreturn": 15,
    "sched_yield": 24,
    "mremap": 25,
    "madvise": 28,
    "nanosleep": 35,
    "setitimer": 38,
    "getpid": 39,
    "exit": 60,
    "gettimeofday": 96,
    "getrusage": 98,
    "sigaltstack": 131,
    "gettid": 186,
    "time": 201,
    "futex": 202,
    "restart_syscall": 219,
    "clock_gettime": 228,
    "clock_nanosleep": 230,
    "exit_group": 231,
    "getrandom": 318,
}
_AARCH64 = {
    "close": 57,
    "lseek": 62,
    "read": 63,
    "write": 64,
    "fstat": 80,
    "exit": 93,
    "exit_group": 94,
    "futex": 98,
    "nanosleep": 101,
    "setitimer": 103,
    "clock_gettime": 113,
    "clock_nanosleep": 115,
    "sched_yield": 124,
    "restart_syscall": 128,
    "sigaltstack": 132,
    "rt_sigaction": 134,
    "rt_sigprocmask": 135,
    "rt_sigreturn": 139,
    "getrusage": 165,
    "gettimeofday": 169,
    "getpid": 172,
    "gettid": 178,
    "brk": 214,
    "munmap": 215,
    "mremap": 216,
    "mmap": 222,
    "mprotect": 226,
    "madvise": 233,
    "getrandom": 278,
}
_MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}


def filter_program(machine: str) -> bytes | None:
    """The seccomp filter of a machine, eight bytes for each instruction; None for an unsupported machine."""
    if machine not in _MACHINES:
        return None
    architecture, table = _MACHINES[machine]
    numbers = sorted(table.values())
    program = [
        _instruction(_LOAD, 0, 0, _ARCHITECTURE),
        _instruction(_JUMP_IF_EQUAL, 1, 0, architecture),
        _instruction(_RETURN, 0, 0, _REFUSE),
        _instruction(_LOAD, 0, 0, _NUMBER),
        _instruction(_JUMP_IF_GREATER_OR_EQUAL, len(numbers), 0, _X32),
    ]
    for index, number in enumerate(numbers):
        program.append(_instruction(_JUMP_IF_EQUAL, len(numbers) - index, 0, number))
    program.append(_instruction(_RETURN, 0, 0, _REFUSE))
    program.append(_instruction(_RETURN, 0, 0, _ALLOW))
    return b"".join(program)


def _instruction(code: int, if_true: int, if_false: int, operand: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)
