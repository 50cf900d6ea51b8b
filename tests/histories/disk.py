"""A small disk for the data directory, which can be filled and emptied."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess

SIZE_MIB = 192
_BALLAST = "ballast"


class Disk:
    """A tmpfs of its own where we may mount one; otherwise a directory that never fills."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        directory.mkdir()
        command = [
            "mount",
            "-t",
            "tmpfs",
            "-o",
            f"size={SIZE_MIB}m,mode=700",
            "crossply-soak",
            str(directory),
        ]
        self.is_small = subprocess.run(command, check=False, capture_output=True).returncode == 0

    def fill(self) -> None:
        """Leave no byte free."""
        with open(self.directory / _BALLAST, "ab", buffering=0) as ballast:
            for size in (1 << 20, 4096, 1):
                with contextlib.suppress(OSError):
                    while True:
                        ballast.write(bytes(size))

    def empty(self) -> None:
        """Give the space back."""
        (self.directory / _BALLAST).unlink(missing_ok=True)

    def unmount(self) -> None:
        """Give the disk back, with everything on it."""
        if self.is_small:
            subprocess.run(["umount", "--lazy", str(self.directory)], check=True)
            self.is_small = False
