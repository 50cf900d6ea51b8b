"""Commands that end with us, even when we are killed.

A pipe is their lifeline: only this process has its other end. A shell in the command's process group waits
for the end of the pipe, kills the group then, and is no child of the command. The command itself is not read
by a shell: it is handed over word by word.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess

_SHELL = "/bin/sh"
_WATCH = 'exec 3<&0; ( (read -r line <&3; kill -9 0) >/dev/null 2>&1 & ); exec "$@" 3<&- </dev/null'


class ChildProcess:
    """One end of the pipe. What was started with it ends when it is cut, by us or by our end."""

    __slots__ = ("_pipe",)

    def __init__(self) -> None:
        self._pipe = -1

    def start(
        self, words: list[str], environ: dict[str, str], directory: str | None = None
    ) -> subprocess.Popen[str]:
        """Start a command in a process group of its own; raises OSError or ValueError where it cannot be."""
        _check(words, directory or "")
        reading, self._pipe = os.pipe()
        guarded = [_SHELL, "-c", _WATCH, "sh", *words] if os.path.exists(_SHELL) else words
        try:
            return subprocess.Popen(
                guarded,
                env=environ,
                cwd=directory,
                stdin=reading,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,  # so that stopping it stops what it started too
            )
        except BaseException:
            self.cut()
            raise
        finally:
            os.close(reading)

    def cut(self) -> None:
        """Kill what is left of the process group."""
        pipe, self._pipe = self._pipe, -1
        if pipe >= 0:
            os.close(pipe)


def _check(words: list[str], directory: str) -> None:
    """Raise what starting the command without a shell would raise."""
    if not words:
        raise ValueError("it is empty")
    program = os.path.join(directory, words[0]) if "/" in words[0] else words[0]
    if shutil.which(program) is None:
        problem = errno.EACCES if os.path.exists(program) else errno.ENOENT
        raise OSError(problem, os.strerror(problem), words[0])
