"""The end of a container's output, however much it writes."""

from __future__ import annotations

import os
import threading

from crossply.containers.log_file import LogFile

_MAX_BYTES = 32 << 10
_CHUNK = 1 << 16
_LINES = 12
_LONGEST_LINE = 2000
_TIMEOUT = 2.0


class OutputTail:
    """The last bytes that were added."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._lock = threading.Lock()

    def add(self, data: bytes) -> None:
        """Append a line and drop the oldest ones beyond the limit."""
        with self._lock:
            self._data += data
            if len(self._data) > 2 * _MAX_BYTES:
                del self._data[:-_MAX_BYTES]

    def text(self) -> str:
        """All that is kept."""
        with self._lock:
            return self._data[-_MAX_BYTES:].decode("utf-8", "replace")

    def last_lines(self) -> str:
        """The last lines, in the form that errors end with: a colon and the lines, or nothing."""
        lines = [line[:_LONGEST_LINE] for line in self.text().rstrip().splitlines()[-_LINES:]]
        return ": " + "\n".join(lines) if lines else ""


class ContainerLog(OutputTail):
    """What comes out of a pipe, whose other end a container has. A file that is named gets all of it."""

    def __init__(self, path: str = "") -> None:
        super().__init__()
        self._file = LogFile(path) if path else None
        self._read, self.write = os.pipe2(os.O_CLOEXEC)
        self._reader = threading.Thread(target=self._keep, daemon=True, name="container output")

    def begin(self) -> None:
        """Read until the container ended; it must have been given its end by now."""
        os.close(self.write)
        self._reader.start()

    def finish(self) -> None:
        """Wait for the last of it."""
        self._reader.join(_TIMEOUT)

    def _keep(self) -> None:
        rest = b""
        with os.fdopen(self._read, "rb", buffering=0) as pipe:
            while data := pipe.read(_CHUNK):
                self.add(data)
                rest = self._write(rest + data) if self._file is not None else b""
        if rest:
            self._write(rest + b"\n")

    def _write(self, data: bytes) -> bytes:
        """Write all lines that are complete to the file; returns the rest."""
        *lines, rest = data.split(b"\n")
        if len(rest) > _LONGEST_LINE:
            lines, rest = [*lines, rest], b""
        for line in lines:
            assert self._file is not None
            self._file.write(line.decode("utf-8", "replace"))
        return rest
