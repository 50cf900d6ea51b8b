"""One container from its start to its end, with everything that it needs meanwhile and nothing afterwards.

The user that its image names is a number, or a name from the image's own /etc/passwd and /etc/group.
"""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
from collections.abc import Sequence

from crossply.containers import oci_spec as spec
from crossply.containers.cgroups import Cgroup, make_group
from crossply.containers.failures import BadImage, ContainerError, ContainerExited, NoOwnNetwork, OutOfMemory
from crossply.containers.image_store import StoredImage, in_use
from crossply.containers.launcher.protocol import NO_NETWORK, Message
from crossply.containers.launcher_client import current_launcher
from crossply.containers.limit_enforcement import BY_WATCHING, enforced_limits, places
from crossply.containers.oci_runtime import find_engine
from crossply.containers.pasta import find_pasta, find_resolver, pasta_command
from crossply.containers.root_filesystem_preparation import without_links
from crossply.containers.settings import ISOLATED, MEBIBYTE, OWN, Settings
from crossply.containers.user_namespace import Identity, map_for
from crossply.xpkg.confined_directory import ConfinedDirectory
from crossply.xpkg.failures import UnsafeEntry

_TLS_FILES = ("ca.crt", "tls.crt", "tls.key")
_LARGEST_TLS_FILE = 64 << 10
_HOSTS = b"127.0.0.1\tlocalhost\n::1\tlocalhost\n"
_ENDING = 10.0
_MEMORY, _NETWORK = "memory", "network"
_LARGEST_FILE = 1 << 20
_LARGEST_ID = 1 << 31


class Container:
    """A container that was started."""

    def __init__(self, image: StoredImage, settings: Settings, files: Sequence[int], port: int = 0) -> None:
        self._settings = settings
        self._resources = contextlib.ExitStack()
        self._group: Cgroup | None = None
        launcher = current_launcher()
        key = secrets.token_hex(6)
        self.socket = os.path.join(launcher.sockets, key) if port else ""
        try:
            self._resources.enter_context(in_use(image))
            request = _start_request(image, settings, launcher.identity, key)
            if port:
                request["relay"] = {"socket": self.socket, "port": port}
            self._group = make_group(places(), key, settings.limits)
            launcher.groups.add(self._group)
            self._resources.callback(launcher.groups.discard, self._group)
            self._resources.callback(self._group.remove)
            with self._group.opened() as groups:
                self._launched = launcher.start(key, request, [*files, *groups])
        except BaseException:
            self._resources.close()
            raise

    def wait(self, seconds: float) -> bool:
        """Wait until it exits, for at most so many seconds; return whether it did."""
        return self._launched.wait(seconds)

    def terminate(self) -> None:
        """Ask its first process to end."""
        self._launched.terminate()

    def end(self) -> None:
        """End it, if it did not end by itself, and let go of everything."""
        self._launched.kill()
        self._launched.wait(_ENDING)
        self.release()

    def release(self) -> None:
        """Let go of everything, after it ended."""
        self._resources.close()
        if self.socket:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.socket)

    @property
    def status(self) -> int:
        """The exit status of a container that ended."""
        return self._launched.status

    @property
    def failed_to_start(self) -> bool:
        """Return whether the engine did not even start it."""
        return not self._launched.started

    @property
    def has_no_network(self) -> bool:
        """Return whether it was not started because it cannot have a network of its own."""
        return not self._launched.started and self._launched.status == NO_NETWORK

    def ran_out_of_memory(self) -> bool:
        """Return whether it was killed for its memory usage; call it before the container is released."""
        if self._launched.why == _MEMORY:
            return True
        return self._group is not None and bool(self._group.memory) and self._group.killed_for_memory()

    def explain(self, wrote: str) -> ContainerError:
        """Why it ended, in plain words; `wrote` is the last that it wrote."""
        if self.ran_out_of_memory():
            return out_of_memory(self._settings, wrote)
        if self.failed_to_start:
            detail = f": {self._launched.why}" if self._launched.why else _error_message(wrote)
            return ContainerError(f"the container could not be started{detail}", hint=BadImage.hint)
        if self._launched.why == _NETWORK:
            return ContainerExited("its container was ended: pasta, which carries its network, has ended")
        return ContainerExited(f"its container ended with {_exit_reason(self.status)}{wrote}")


def out_of_memory(settings: Settings, wrote: str) -> OutOfMemory:
    """The error of a container that exceeded its memory limit."""
    allowed = settings.limits.memory / MEBIBYTE
    program = "function" if settings.hostname == Settings().hostname else "container"
    return OutOfMemory(f"the {program} was killed: it exceeded its {allowed:g} MiB{wrote}")


def _error_message(wrote: str) -> str:
    """The error message in an engine's output; runc writes it as one of several fields of a line."""
    before, marker, after = wrote.rpartition('level=error msg="')
    return ": " + after.rpartition('"')[0].replace('\\"', '"') if marker else before or after


def _exit_reason(status: int) -> str:
    return f"signal {status - 128}" if status > 128 else f"exit status {status}"


def _start_request(image: StoredImage, settings: Settings, identity: Identity, key: str) -> Message:
    """The request to the launcher."""
    enforced = enforced_limits()
    inner = image.inner
    ids = map_for(identity, *_image_user(image.root, str(inner.get("User") or "")))
    inside = spec.Inside(inner, _directory(image), ids, tuple(mount.target for mount in settings.mounts))
    files = {spec.HOSTS: _host_files(settings)}
    if settings.tls_certificates:
        files[spec.TLS] = _read_all(settings.tls_certificates, _TLS_FILES)
    binds = {f"mount{number}": mount.source for number, mount in enumerate(settings.mounts)}
    return {
        "config": spec.runtime_spec(inside, settings, enforced),
        "command": find_engine(settings.engine, os.environ).command(key),
        "binds": {spec.ROOT: image.root, **binds},
        "files": files,
        "owner": identity.owner,
        "relay": None,
        "pasta": _pasta_command(settings),
        "watched_memory": settings.limits.memory if enforced.memory == BY_WATCHING else 0,
    }


def _pasta_command(settings: Settings) -> list[str] | None:
    if settings.network != OWN:
        return None
    pasta = find_pasta(os.environ)
    if not pasta:
        raise NoOwnNetwork("pasta is not installed")
    return pasta_command(pasta, settings.forwards, find_resolver())


def _directory(image: StoredImage) -> str:
    """Where the image is started; not where the engine's own open files could be seen through a link."""
    directory = without_links(image.root, spec.working_directory(image.inner))
    if spec.is_the_kernels(directory):
        raise BadImage(f"the image wants to be started in {directory}, which is not a directory of its own")
    return directory


def _host_files(settings: Settings) -> dict[str, str]:
    if settings.network == ISOLATED:
        return {"hosts": base64.b64encode(_HOSTS).decode()}
    if settings.network == OWN:
        files = {"hosts": _HOSTS, "resolv.conf": find_resolver().text}
        return {name: base64.b64encode(data).decode() for name, data in files.items()}
    return _read_all("/etc", spec.host_files(settings))


def _read_all(directory: str, names: Sequence[str]) -> dict[str, str]:
    values = {}
    for name in names:
        try:
            with open(os.path.join(directory, name), "rb") as file:
                values[name] = base64.b64encode(file.read(_LARGEST_TLS_FILE)).decode()
        except OSError as problem:
            reason = (problem.strerror or "").lower()
            raise ContainerError(f"cannot read {name} in {directory}: {reason}") from None
    return values


def _image_user(root: str, text: str) -> tuple[int, int]:
    """The user and the group that the image's configuration names, as numbers."""
    user, _, group = text.partition(":")
    number, first_group = _user(root, user) if user else (0, 0)
    return number, (_group(root, group) if group else first_group)


def _user(root: str, name: str) -> tuple[int, int]:
    if name.isdigit():
        listed = [entry for entry in _entries(root, "passwd") if entry[2] == name]
        return _number(name), _number(listed[0][3]) if listed else 0
    for entry in _entries(root, "passwd"):
        if entry[0] == name:
            return _number(entry[2]), _number(entry[3])
    raise BadImage(f"the image wants to be run by the user {name!r}, whom its /etc/passwd does not have")


def _group(root: str, name: str) -> int:
    if name.isdigit():
        return _number(name)
    for entry in _entries(root, "group"):
        if entry[0] == name:
            return _number(entry[2])
    raise BadImage(f"the image wants to be run by the group {name!r}, which its /etc/group does not have")


def _number(text: str) -> int:
    if not text.isdigit() or int(text) >= _LARGEST_ID:
        raise BadImage(f"{text[:40]!r} is no number of a user or group")
    return int(text)


def _entries(root: str, name: str) -> list[list[str]]:
    """The lines of a file of the image, which is read without leaving the image."""
    try:
        with ConfinedDirectory(root) as image:
            directory = image.directory(["etc"])
            try:
                opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
            finally:
                os.close(directory)
        with os.fdopen(opened, "rb") as file:
            text = file.read(_LARGEST_FILE).decode("utf-8", "replace")
    except (OSError, UnsafeEntry):
        return []
    lines = [line.split(":") for line in text.splitlines()]
    return [fields for fields in lines if len(fields) >= 4]
