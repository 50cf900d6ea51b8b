"""Certificates as files that only we can read, replaced all at once.

Each state is a directory of its own, and `current` is a link to the newest: a reader that resolves
it once gets files that belong together.

A process that is killed leaves its directory behind. The next one that makes a directory in the same place
removes it: each process holds a lock on its own directories for as long as it lives.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile

from crossply.control.replica_shared_secret import Files

_PREFIX = "crossply-locked-credentials-"
"""Version 0.1.0 locks nothing, and has another prefix: what it uses on the same machine is not removed."""
_MAX_STATES = 3
"""So many states remain, for those who are just reading an older one."""


class PrivateFiles:
    """A directory for the time that we run, in a place that is made if needed, or in the temporary one."""

    def __init__(self, place: str = "") -> None:
        if place:
            os.makedirs(place, mode=0o700, exist_ok=True)
            _remove_orphans(place)
        _remove_orphans(tempfile.gettempdir())
        self._root, self._lock = _make_locked(place or None)
        self._states: list[str] = []
        self._number = 0

    @property
    def directory(self) -> str:
        """Where the newest files are."""
        return os.path.join(self._root, "current")

    def replace(self, files: Files) -> None:
        """Show these files instead of those before."""
        try:
            self._add_state(files)
        except OSError:
            if self._states:
                raise
            # The disk of the place may be full: that must not keep a control plane from starting.
            self.remove()
            self._root, self._lock = _make_locked(None)
            self._add_state(files)

    def _add_state(self, files: Files) -> None:
        self._number += 1
        state = os.path.join(self._root, str(self._number))
        os.mkdir(state, 0o700)
        for name, content in files.items():
            path = os.path.join(state, name)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
        link = f"{state}.link"
        os.symlink(str(self._number), link)
        os.replace(link, self.directory)
        self._states.append(state)
        while len(self._states) > _MAX_STATES:
            shutil.rmtree(self._states.pop(0), ignore_errors=True)

    def remove(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self._root, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self._lock)


def _make_locked(place: str | None) -> tuple[str, int]:
    """A new directory, and the descriptor that locks it."""
    while True:
        root = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
        try:
            lock = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Another process may have taken it for an orphan before it was locked, or even opened.
        if os.path.isdir(root):
            return root, lock
        os.close(lock)


def _remove_orphans(place: str) -> None:
    """Remove the directories of processes that have ended."""
    with os.scandir(place) as entries:
        orphans = [
            entry.path for entry in entries if entry.name.startswith(_PREFIX) and _is_own_directory(entry)
        ]
    for path in orphans:
        with contextlib.suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)


def _is_own_directory(entry: os.DirEntry[str]) -> bool:
    try:
        is_directory = entry.is_dir(follow_symlinks=False)
        return is_directory and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    except OSError:
        return False
