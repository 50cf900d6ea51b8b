"""Files in memory for a confined process.

An interpreter that loads modules from paths cannot do so in the sandbox. So the filter of `confinement` has
the kernel send SIGSYS for each call that opens, lists or asks for a file. The handler here answers in its
place from `VirtualFiles`: no call reaches the file system, and what is not in the dictionary does not exist.
Open files are descriptors that the kernel does not know; calls on them are answered here too.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.sandbox.system_call_numbers import SYSTEM_CALLS
from crossply.functions.builtin.sandbox.virtual_files import VirtualFiles

_AT_FDCWD = -100
_CALL_NUMBER = 24
"""The offset of the call's number in `siginfo_t`."""

_SA_SIGINFO, _SA_NODEFER = 4, 0x40000000
_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_handlers: list[Any] = []
"""The handler, which must live as long as the process."""


class _SignalAction(ctypes.Structure):
    """`struct sigaction` of the C library."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ubyte * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


class _Layout(NamedTuple):
    """Where a machine keeps the registers of an interrupted call in `ucontext`, and its `struct stat`."""

    arguments: tuple[int, ...]
    result: int
    pack_stat: Callable[[int, int], bytes]


def _stat_x86_64(mode: int, size: int) -> bytes:
    return struct.pack("<QQQIIIIQqqq", 0, 1, 1, mode, 0, 0, 0, 0, size, 4096, 0).ljust(144, b"\0")


def _stat_aarch64(mode: int, size: int) -> bytes:
    return struct.pack("<QQIIIIQQqiiq", 0, 1, mode, 1, 0, 0, 0, 0, size, 4096, 0, 0).ljust(128, b"\0")


def _statx(mode: int, size: int) -> bytes:
    return struct.pack("<IIQIIIHHQQQ", 0x7FF, 4096, 0, 1, 0, 0, mode, 0, 1, size, 0).ljust(256, b"\0")


_LAYOUTS = {
    "x86_64": _Layout((104, 112, 136, 56, 40), 144, _stat_x86_64),  # rdi, rsi, rdx, r10, r8; rax
    "aarch64": _Layout((184, 192, 200, 208, 216), 184, _stat_aarch64),  # x0 to x4; x0
}


def handle_traps(files: VirtualFiles, machine: str, library: ctypes.CDLL) -> None:
    """Answer the calls of this process that the filter traps from `files`."""
    layout = _LAYOUTS[machine]
    calls = SYSTEM_CALLS[machine]
    answers = _Answers(files, layout.pack_stat).by_name()
    by_number = {number: answers[name] for name, number in {**calls.on_paths, **calls.on_descriptors}.items()}

    def handle(_: int, information: int, context: int) -> None:
        number = ctypes.c_int.from_address(information + _CALL_NUMBER).value
        arguments = [ctypes.c_long.from_address(context + offset).value for offset in layout.arguments]
        result = ctypes.c_long.from_address(context + layout.result)
        result.value = -errno.EIO  # stays where an exception ends the handler
        result.value = by_number[number](*arguments)

    _handlers.append(_HANDLER(handle))
    action = _SignalAction(ctypes.cast(_handlers[-1], ctypes.c_void_p), flags=_SA_SIGINFO | _SA_NODEFER)
    if library.sigaction(signal.SIGSYS, ctypes.byref(action), None):
        raise OSError(ctypes.get_errno(), "cannot handle SIGSYS")


class _Answers:
    """Answers to calls. Their arguments are registers: numbers, and addresses of texts and buffers."""

    def __init__(self, files: VirtualFiles, pack_stat: Callable[[int, int], bytes]) -> None:
        self._files = files
        self._pack_stat = pack_stat

    def by_name(self) -> dict[str, Callable[..., int]]:
        return {
            "openat": self._open,
            "newfstatat": self._stat,
            "statx": self._statx,
            "readlinkat": self._read_link,
            "faccessat": self._access,
            "faccessat2": self._access,
            "getcwd": self._working_directory,
            "getdents64": self._list,
            "read": self._read,
            "write": lambda *_: -errno.EBADF,
            "close": lambda descriptor, *_: self._files.close(descriptor),
            "fstat": self._stat_open,
            "lseek": lambda descriptor, offset, whence, *_: self._files.seek(descriptor, offset, whence),
            "open": lambda *arguments: self._open(_AT_FDCWD, *arguments),
            "stat": lambda *arguments: self._stat(_AT_FDCWD, *arguments),
            "lstat": lambda *arguments: self._stat(_AT_FDCWD, *arguments),
            "access": lambda *arguments: self._access(_AT_FDCWD, *arguments),
            "readlink": lambda *arguments: self._read_link(_AT_FDCWD, *arguments),
        }

    def _open(self, descriptor: int, path: int, flags: int, *_: int) -> int:
        return self._files.open(self._files.resolve(descriptor, _text(path)), flags)

    def _stat(self, descriptor: int, path: int, buffer: int, *_: int) -> int:
        return _write_entry(self._find(descriptor, path), self._pack_stat, buffer)

    def _statx(self, descriptor: int, path: int, flags: int, mask: int, buffer: int) -> int:
        return _write_entry(self._find(descriptor, path), _statx, buffer)

    def _stat_open(self, descriptor: int, buffer: int, *_: int) -> int:
        return _write_entry(self._files.find_open(descriptor), self._pack_stat, buffer)

    def _read_link(self, descriptor: int, path: int, *_: int) -> int:
        """There are no links: EINVAL for what is there."""
        return -errno.ENOENT if self._find(descriptor, path) is None else -errno.EINVAL

    def _access(self, descriptor: int, path: int, mode: int, *_: int) -> int:
        if self._find(descriptor, path) is None:
            return -errno.ENOENT
        return -errno.EROFS if mode & os.W_OK else 0

    def _working_directory(self, buffer: int, size: int, *_: int) -> int:
        return _write(b"/\0", buffer) if size > 1 else -errno.ERANGE

    def _list(self, descriptor: int, buffer: int, size: int, *_: int) -> int:
        return _write(self._files.list(descriptor, size), buffer)

    def _read(self, descriptor: int, buffer: int, size: int, *_: int) -> int:
        return _write(self._files.read(descriptor, size), buffer)

    def _find(self, descriptor: int, path: int) -> tuple[int, int] | None:
        """The mode and size of what is at a path; of the descriptor where the path is empty."""
        name = _text(path)
        if not name:
            return self._files.find_open(descriptor)
        return self._files.find(self._files.resolve(descriptor, name))


def _text(address: int) -> str:
    return ctypes.string_at(address).decode("utf-8", "surrogateescape")


def _write(data: bytes | int, buffer: int) -> int:
    """Copy data to a buffer of the caller; an error is passed on."""
    if isinstance(data, int):
        return data
    ctypes.memmove(buffer, data, len(data))
    return len(data)


def _write_entry(entry: tuple[int, int] | None, pack: Callable[[int, int], bytes], buffer: int) -> int:
    if entry is None:
        return -errno.ENOENT
    _write(pack(*entry), buffer)
    return 0
