"""A file system below SQLite that fails on command; the store is unchanged."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import apsw


class Operation(NamedTuple):
    """Something that was done to a file."""

    file: str
    kind: str  # write, truncate, sync
    offset: int = 0
    data: bytes = b""


class FaultySystem(apsw.VFS):
    """Forwards everything, unless set to fail or to wait; records the writes."""

    def __init__(self) -> None:
        self.fail_write: type[apsw.Error] | None = None
        self.fail_sync: type[apsw.Error] | None = None
        self.fail_sync_of: dict[str, type[Exception]] = {}
        self.may_sync = threading.Event()
        self.may_sync.set()
        self.tape: list[Operation] | None = None
        super().__init__("faulty", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:  # noqa: N802
        return FaultyFile(self, name, flags)


class FaultyFile(apsw.VFSFile):
    def __init__(self, system: FaultySystem, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self.system = system
        self.name = os.path.basename(name.filename() if hasattr(name, "filename") else str(name))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self.system.fail_write:
            raise self.system.fail_write("told to fail")
        super().xWrite(data, offset)
        self._record("write", offset, data)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        super().xTruncate(size)
        self._record("truncate", size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self.system.may_sync.wait(10)
        if self.system.fail_sync:
            raise self.system.fail_sync("told to fail")
        if error := self.system.fail_sync_of.get(self.name):
            raise error("told to fail")
        super().xSync(flags)
        self._record("sync")

    def _record(self, kind: str, offset: int = 0, data: bytes = b"") -> None:
        if self.system.tape is not None:
            self.system.tape.append(Operation(self.name, kind, offset, bytes(data)))


@contextmanager
def faulty_system() -> Iterator[FaultySystem]:
    """Within this context, every opened database is on a faulty file system."""
    system = FaultySystem()
    try:
        yield system
    finally:
        system.unregister()
