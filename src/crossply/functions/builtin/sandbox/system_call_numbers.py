"""Numbers of Linux system calls for each machine."""

from __future__ import annotations

from typing import NamedTuple

FIRST_VIRTUAL_DESCRIPTOR = 4096
"""Descriptors from here on are those of virtual files; the kernel has none of them."""

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
_X86_64_PATHS = {
    "open": 2,
    "stat": 4,
    "lstat": 6,
    "access": 21,
    "getcwd": 79,
    "readlink": 89,
    "getdents64": 217,
    "openat": 257,
    "newfstatat": 262,
    "readlinkat": 267,
    "faccessat": 269,
    "statx": 332,
    "faccessat2": 439,
}
_AARCH64_PATHS = {
    "getcwd": 17,
    "faccessat": 48,
    "openat": 56,
    "getdents64": 61,
    "readlinkat": 78,
    "newfstatat": 79,
    "statx": 291,
    "faccessat2": 439,
}
_ON_DESCRIPTORS = ("read", "write", "close", "fstat", "lseek")


class SystemCalls(NamedTuple):
    """The system calls of a machine that matter to the sandbox, by name."""

    architecture: int
    """The number by which seccomp knows the machine."""
    computing: dict[str, int]
    """Calls that only compute, or use open descriptors."""
    on_paths: dict[str, int]
    """Calls that read files by their paths, and that list directories."""

    @property
    def on_descriptors(self) -> dict[str, int]:
        """The calls of `computing` whose first argument is a descriptor."""
        return {name: self.computing[name] for name in _ON_DESCRIPTORS}


SYSTEM_CALLS = {
    "x86_64": SystemCalls(0xC000003E, _X86_64, _X86_64_PATHS),
    "aarch64": SystemCalls(0xC00000B7, _AARCH64, _AARCH64_PATHS),
}
"""The system calls for each `uname -m` that the sandbox supports."""
