"""Running a container to completion: bytes in, bytes out, an exit status.

Alpha functions (`spec.functions`) and functions from tarballs are run like this.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.containers.settings import Settings
from crossply.containers.store import StoredImage


class Finished(NamedTuple):
    """How a container ended by itself."""

    stdout: bytes
    stderr: str
    """The last of what it wrote there."""
    status: int
    """Its exit status; 128 and the number of the signal where one ended it."""


def run_once(image: StoredImage, stdin: bytes, settings: Settings) -> Finished:
    """Run a container with these bytes on its standard input, and wait until it ended.

    Raises TookTooLong, OutputTooLarge, OutOfMemory or another ContainerError.
    """
    raise NotImplementedError
