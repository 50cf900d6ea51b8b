"""Certificates as files that only we can read, replaced all at once.

Each state is a directory of its own, and `current` is a link to the newest: whoever follows the link once
reads files that belong together.
"""

from __future__ import annotations

import os
import shutil
import tempfile

from crossply.control.shared_secret import Files

_KEPT = 3
"""So many states remain, for those who are just reading an older one."""


class PrivateFiles:
    """A directory in the temporary one, for the time that we run."""

    def __init__(self) -> None:
        self._root = tempfile.mkdtemp(prefix="crossply-credentials-")
        self._states: list[str] = []
        self._number = 0

    @property
    def directory(self) -> str:
        """Where the newest files are."""
        return os.path.join(self._root, "current")

    def replace(self, files: Files) -> None:
        """Show these files instead of those before."""
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
        while len(self._states) > _KEPT:
            shutil.rmtree(self._states.pop(0), ignore_errors=True)

    def remove(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self._root, ignore_errors=True)
