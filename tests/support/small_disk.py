"""A file system of a few megabytes, to be filled."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

_FILLER = "filler"
_PIECES = (1 << 20, 4096, 1)


@contextlib.contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """Mount a file system of a size such as "64m"; skips the test where that is not allowed."""
    path.mkdir(parents=True, exist_ok=True)
    mounting = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], capture_output=True
    )
    if mounting.returncode:
        pytest.skip("may not mount a small disk here")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def grow(disk: Path, size: str) -> None:
    """Give a small disk more space."""
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)


def fill(disk: Path) -> None:
    """Take all the space that is left, as another program might."""
    with open(disk / _FILLER, "ab", buffering=0) as file:
        for piece in _PIECES:
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(piece))
    assert is_full(disk)


def empty(disk: Path) -> None:
    """Give back what `fill` took."""
    os.unlink(disk / _FILLER)


def is_full(disk: Path) -> bool:
    """Whether not one more byte can be written to a new file."""
    probe = disk / "probe"
    try:
        probe.write_bytes(b"x")
    except OSError as problem:
        return problem.errno == errno.ENOSPC
    finally:
        probe.unlink(missing_ok=True)
    return False
