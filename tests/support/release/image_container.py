"""Containers of an image as a cluster runs them: any user, no rights, a read-only file system."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import secrets
import subprocess
from collections.abc import Iterator
from typing import Any

from crossply.xpkg.archive_reader import read_archive
from crossply.xpkg.layer_unpack import unpack
from tests.support.programs import ENGINE, find, require

_CAPABILITIES = ("bounding", "effective", "inheritable", "permitted", "ambient")


class ImageContainers:
    """An unpacked image, and containers of it that share the network of this machine."""

    def __init__(self, archive: pathlib.Path, directory: pathlib.Path) -> None:
        require(ENGINE)
        self.image = read_archive(str(archive))
        self.root = directory / "root"
        self.root.mkdir()
        unpack(self.image, str(self.root))
        self._directory = directory

    def run(self, user: int, *words: str, entrypoint: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; without the image's entry point where that is not wanted."""
        command = self._command(user, words, entrypoint, ())
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    @contextlib.contextmanager
    def running(self, user: int, *words: str, mounts: tuple[pathlib.Path, ...] = ()) -> Iterator[Any]:
        """A command that runs until the end of the block; its standard output and error are one."""
        command = self._command(user, words, True, mounts)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=60)

    def _command(
        self, user: int, words: tuple[str, ...], entrypoint: bool, mounts: tuple[pathlib.Path, ...]
    ) -> list[str]:
        name = f"image-{secrets.token_hex(4)}"
        bundle = self._directory / name
        bundle.mkdir()
        first = self.image.inner["Entrypoint"] if entrypoint else []
        (bundle / "config.json").write_text(json.dumps(self._config(user, [*first, *words], mounts)))
        runc = find("runc")
        engine = [runc] if runc else [find("crun") or "crun", "--cgroup-manager=disabled"]
        return [*engine, "--root", str(self._directory / "state"), "run", "--bundle", str(bundle), name]

    def _config(self, user: int, words: list[str], mounts: tuple[pathlib.Path, ...]) -> dict[str, Any]:
        inner = self.image.inner
        return {
            "ociVersion": "1.0.2",
            "process": {
                "user": {"uid": user, "gid": user},
                "args": words,
                "env": inner["Env"],
                "cwd": inner["WorkingDir"],
                "noNewPrivileges": True,
                "capabilities": {kind: [] for kind in _CAPABILITIES},
            },
            "root": {"path": str(self.root), "readonly": True},
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc"},
                _writable("/dev", "mode=755"),
                _writable("/tmp", "mode=1777"),
                *(_bound(path) for path in mounts),
            ],
            "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]},
        }


def _writable(place: str, mode: str) -> dict[str, Any]:
    return {"destination": place, "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", mode]}


def _bound(path: pathlib.Path) -> dict[str, Any]:
    """A directory of this machine at a place below /tmp, which can be read only."""
    place = os.path.join("/tmp", path.name)
    return {"destination": place, "type": "bind", "source": str(path), "options": ["rbind", "ro"]}
