"""The OCI bundle of one container: a directory with its specification, and the mounts below it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
from typing import Any, NoReturn

from crossply.containers.launcher import syscalls as kernel
from crossply.containers.launcher.container_network_namespace import OwnNetwork
from crossply.containers.launcher.relay import run_relay

_NOT_STARTED = 126


class Bundle:
    """The directory of one container, below the launcher's own place.

    `wanted` has: the `key`; the `config` for the engine; `binds` (name → path of the host) and `files` (name
    of a directory → name of a file → content in base64, of the `owner`), all made below the directory;
    a `relay` (socket and port) or none; the `pasta` command of a network of its own, or none; and the
    engine's `command`.
    """

    def __init__(self, place: str, request: dict[str, Any]) -> None:
        self.path = os.path.join(place, request["key"])
        self._state = os.path.join(place, "engine")
        self._request = request
        self._binds: list[str] = []
        self._relay = 0
        self.network: OwnNetwork | None = None

    def make(self) -> None:
        """Make the directory and everything in it."""
        os.mkdir(self.path, 0o711)
        for name, source in self._request["binds"].items():
            self._bind(name, source)
        for name, files in self._request["files"].items():
            self._write(name, files, self._request["owner"])
        config = self._request["config"]
        if self._request["relay"]:
            self._relay = self._start_relay(**self._request["relay"])
            _join_network(config, self._relay)
        if self._request["pasta"]:
            self.network = OwnNetwork(self.path, self._request["pasta"])
            _join_network(config, self.network.holder)
        with open(os.path.join(self.path, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)

    def _bind(self, name: str, source: str) -> None:
        target = os.path.join(self.path, name)
        if os.path.isdir(source):
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        kernel.mount(source, target, flags=kernel.BIND | kernel.RECURSIVE)
        self._binds.append(target)

    def _write(self, name: str, files: dict[str, str], owner: int) -> None:
        directory = os.path.join(self.path, name)
        os.mkdir(directory, 0o500)
        for file, content in files.items():
            path = os.path.join(directory, file)
            opened = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o400)
            try:
                os.write(opened, base64.b64decode(content))
                os.fchown(opened, owner, owner)
            finally:
                os.close(opened)
        os.chown(directory, owner, owner)

    def _start_relay(self, socket: str, port: int) -> int:
        read, ready = os.pipe()
        pid = os.fork()
        if pid == 0:
            _relay_process(socket, port, ready)
        os.close(ready)
        byte = os.read(read, 1)
        os.close(read)
        if not byte:
            raise OSError(0, "the network of the container could not be made", "relay")
        return pid

    def execute(self, files: list[int]) -> int:
        """Start the engine; its process. Three files are its standard ones, the others let it into groups."""
        command = [
            part.replace("{bundle}", self.path).replace("{state}", self._state)
            for part in self._request["command"]
        ]
        pid = os.fork()
        if pid == 0:
            _engine_process(command, files[:3], files[3:])
        return pid

    def first_process(self) -> int:
        """The container's first process, once the engine has written it; else 0."""
        try:
            with open(os.path.join(self.path, "pid"), encoding="ascii") as file:
                return int(file.read().strip() or 0)
        except (OSError, ValueError):
            return 0

    def remove(self) -> None:
        """Take it all away again."""
        if self.network is not None:
            self.network.remove()
        if self._relay:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._relay, signal.SIGKILL)
        with contextlib.suppress(OSError):
            # What cannot be unmounted stays: below it are files of the host, which are not ours to remove.
            for target in self._binds:
                kernel.unmount(target)
            _remove_tree(self.path)


def _join_network(config: dict[str, Any], process: int) -> None:
    for namespace in config["linux"]["namespaces"]:
        if namespace["type"] == "network":
            namespace["path"] = f"/proc/{process}/ns/net"


def _remove_tree(path: str) -> None:
    for directory, directories, files in os.walk(path, topdown=False):
        for name in files:
            os.unlink(os.path.join(directory, name))
        for name in directories:
            os.rmdir(os.path.join(directory, name))
    os.rmdir(path)


def _relay_process(socket: str, port: int, ready: int) -> NoReturn:
    try:
        kernel.die_with_parent()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        run_relay(socket, port, ready)
    finally:
        os._exit(1)


def _engine_process(command: list[str], files: list[int], groups: list[int]) -> NoReturn:
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        for group in groups:
            os.write(group, b"0")
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.execv(command[0], command)
    except OSError as problem:
        os.write(2, f"{command[0]}: {problem}\n".encode())
    finally:
        os._exit(_NOT_STARTED)
