"""Running a container to completion: bytes in, bytes out, an exit status.

Alpha functions (`spec.functions`) and functions from tarballs are run like this.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import time
from typing import NamedTuple

from crossply.containers.container import Container
from crossply.containers.failures import OutputTooLarge, TookTooLong
from crossply.containers.image_store import StoredImage
from crossply.containers.output_tail import OutputTail
from crossply.containers.settings import Settings

_CHUNK = 1 << 16


class FinishedRun(NamedTuple):
    """How a container ended by itself."""

    stdout: bytes
    stderr: str
    """The last of what it wrote there."""
    status: int
    """Its exit status; 128 and the number of the signal where one ended it."""


def run_once(image: StoredImage, stdin: bytes, settings: Settings) -> FinishedRun:
    """Run a container with these bytes on its standard input, and wait until it ended.

    Raises TookTooLong, OutputTooLarge, OutOfMemory or another ContainerError.
    """
    with _Pipes(stdin, settings) as pipes:
        deadline = time.monotonic() + settings.timeout
        running = Container(image, settings, pipes.theirs)
        try:
            pipes.close_their_ends()
            pipes.exchange(deadline)
            if not running.wait(max(deadline - time.monotonic(), 0.0)):
                raise pipes.too_long()
            wrote = pipes.errors.last_lines()
            if running.ran_out_of_memory() or running.status < 0 or running.failed_to_start:
                raise running.explain(wrote)
            return FinishedRun(bytes(pipes.output), pipes.errors.text(), running.status)
        finally:
            pipes.close()  # runc carries the output itself, and would wait for a reader
            running.end()


class _Pipes:
    """The standard input, output and error of one container."""

    def __init__(self, stdin: bytes, settings: Settings) -> None:
        self._settings = settings
        self._left = memoryview(stdin)
        self.output, self.errors = bytearray(), OutputTail()
        read, self._input = os.pipe2(os.O_CLOEXEC)
        self._output, write = os.pipe2(os.O_CLOEXEC)
        self._errors, write_errors = os.pipe2(os.O_CLOEXEC)
        self.theirs = [read, write, write_errors]
        self._open = {*self.theirs, self._input, self._output, self._errors}

    def __enter__(self) -> _Pipes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all that is still open."""
        for descriptor in list(self._open):
            self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        self._open.discard(descriptor)
        os.close(descriptor)

    def close_their_ends(self) -> None:
        """The container has its ends by now."""
        for descriptor in self.theirs:
            self._close(descriptor)

    def exchange(self, deadline: float) -> None:
        """Write all input and read all output, until both outputs are at their end."""
        with selectors.DefaultSelector() as selector:
            os.set_blocking(self._input, False)
            selector.register(self._input, selectors.EVENT_WRITE, self._write)
            selector.register(self._output, selectors.EVENT_READ, self._read_output)
            selector.register(self._errors, selectors.EVENT_READ, self._read_errors)
            reading = 2
            while reading:
                ready = selector.select(max(deadline - time.monotonic(), 0.0))
                if not ready and time.monotonic() >= deadline:
                    raise self.too_long()
                for key, _ in ready:
                    if not key.data():
                        selector.unregister(key.fd)
                        reading -= key.fd != self._input
                        self._close(key.fd)

    def _write(self) -> bool:
        """Write some of the input; return whether there is more."""
        with contextlib.suppress(BlockingIOError):
            try:
                self._left = (
                    self._left[os.write(self._input, self._left[:_CHUNK]) :] if self._left else self._left
                )
            except BrokenPipeError:
                return False  # it does not want to read the rest
        return bool(self._left)

    def _read_output(self) -> bool:
        data = os.read(self._output, _CHUNK)
        self.output += data
        if len(self.output) > self._settings.largest_output:
            most = self._settings.largest_output
            raise OutputTooLarge(f"the function was ended: it wrote more than {most} bytes")
        return bool(data)

    def _read_errors(self) -> bool:
        data = os.read(self._errors, _CHUNK)
        self.errors.add(data)
        return bool(data)

    def too_long(self) -> TookTooLong:
        """The error of a container that does not end."""
        wrote = self.errors.last_lines()
        return TookTooLong(f"the function was ended: it took longer than {self._settings.timeout:g} s{wrote}")
