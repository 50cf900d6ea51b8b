"""The few system calls that Python has no name for."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct

NEW_MOUNTS, NEW_USER, NEW_PIDS, NEW_NETWORK = 0x20000, 0x10000000, 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT = 1, 2, 4, 8, 0x20
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
_DETACH = 2
_DEATH_SIGNAL, _NO_NEW_PRIVILEGES = 1, 38
_CAPABILITIES_VERSION = 0x20080522
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), call)


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount something."""
    texts = [os.fsencode(text) if text else None for text in (source, target, kind)]
    _checked(
        _libc.mount(*texts, ctypes.c_ulong(flags), options.encode() if options else None), f"mount {target}"
    )


def unmount(target: str) -> None:
    """Unmount something, also where it is still in use."""
    _checked(_libc.umount2(os.fsencode(target), _DETACH), f"umount {target}")


def die_with_parent() -> None:
    """Be killed when the parent is gone."""
    _checked(_libc.prctl(_DEATH_SIGNAL, 9, 0, 0, 0), "prctl")


def give_up_privileges() -> None:
    """Have no capability from now on, and never get one again."""
    _checked(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "prctl")
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    _checked(_libc.capset(header, bytes(24)), "capset")


def bring_loopback_up() -> None:
    """Let a new network namespace reach itself."""
    with socket.socket() as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, _GET_FLAGS, request))[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))
