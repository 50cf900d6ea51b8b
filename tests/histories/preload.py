"""A library that moves the wall clock and slows the disk of the processes that load it, as a fault.

It is compiled when it is needed. Setting the machine's clock would disturb everything else on it, and a time
namespace does not have the wall clock.
"""

from __future__ import annotations

import mmap
import os
import pathlib
import shutil
import struct
import subprocess
import sys

SOURCE = pathlib.Path(__file__).with_name("preload.c")
_PROBE = "import time; print(int(time.time()))"


class Preload:
    """The library and the page by which it is controlled."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._library = directory / "preload.so"
        self._control = directory / "preload.control"
        self._control.write_bytes(bytes(mmap.PAGESIZE))
        with open(self._control, "r+b") as file:
            self._page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is not None:
            command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(self._library), str(SOURCE), "-ldl"]
            subprocess.run(command, check=False)

    def works(self) -> bool:
        """Whether a Python that loads it has another time."""
        if not self._library.exists():
            return False
        self.set_clock(1_000_000)
        probed, own = (
            int(
                subprocess.run(
                    [sys.executable, "-c", _PROBE], env=env, capture_output=True, check=True
                ).stdout
            )
            for env in (self.environment(), None)
        )
        self.set_clock(0)
        return probed - own > 900_000

    def environment(self) -> dict[str, str]:
        """The environment of a process that is to be disturbed."""
        if not self._library.exists():
            return dict(os.environ)
        return {**os.environ, "LD_PRELOAD": str(self._library), "SOAK_CONTROL": str(self._control)}

    def set_clock(self, seconds: int) -> None:
        """Move the wall clock away from the machine's."""
        self._page[0:8] = struct.pack("=q", seconds)

    def set_sync_delay(self, seconds: float) -> None:
        """Have every sync take so much longer."""
        self._page[8:16] = struct.pack("=q", int(seconds * 1_000_000))
