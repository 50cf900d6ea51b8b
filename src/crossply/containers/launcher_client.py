"""Our side of the launcher: it is started once for this process, and ends with it.

Everything that the launcher needs besides images is in one directory, which is removed at the end; those of
processes that were killed are removed by the next one.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence

import crossply
from crossply.containers.cgroups import Cgroup
from crossply.containers.failures import ContainersForbidden
from crossply.containers.launcher import protocol as wire
from crossply.containers.user_namespace import Identity, own_identity, write_maps

_PREFIX = "crossply-containers-"
_LONGEST_PLACE = 40
_YOUNG = 60.0
_TIMEOUT = 10.0
_LONGEST_LOG = 1 << 16
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); from crossply.containers.launcher.main import main; "
    "main(int(sys.argv[2]))"
)
_ENGINE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class LaunchedContainer:
    """A container that was started; the client notifies it when it exits."""

    def __init__(self, launcher: LauncherClient, key: str) -> None:
        self._launcher = launcher
        self.key = key
        self._exited = threading.Event()
        self.status, self.why, self.started = 0, "", False

    def wait(self, seconds: float | None) -> bool:
        """Wait until it exits, for at most so many seconds; return whether it did."""
        return self._exited.wait(seconds)

    def kill(self) -> None:
        """End it now."""
        if not self._exited.is_set():
            self._launcher.kill(self.key)

    def terminate(self) -> None:
        """Ask it to end."""
        if not self._exited.is_set():
            self._launcher.terminate(self.key)

    def report_exit(self, status: int, why: str, started: bool) -> None:
        """It ended."""
        self.status, self.why, self.started = status, why, started
        self._exited.set()


class LauncherClient:
    """The process that starts containers."""

    def __init__(self) -> None:
        self.identity = own_identity()
        self.directory = _make_directory()
        self.sockets = os.path.join(self.directory, "s")
        self._owner = _own(self.directory)
        self._lock = threading.Lock()
        self._launched: dict[str, LaunchedContainer] = {}
        self.groups: set[Cgroup] = set()
        """The control groups of containers that run, which are removed with it."""
        self.alive = True
        self._reader: threading.Thread | None = None
        self._line, their_end = wire.pair()
        self._log = os.path.join(self.sockets, "log")
        with their_end, open(self._log, "wb") as log:
            self._process = _start(their_end.fileno(), log.fileno())
        try:
            self._settle(self.identity)
        except BaseException:
            self.close()
            raise
        self._reader = threading.Thread(target=self._listen, daemon=True, name="containers")
        self._reader.start()

    def _settle(self, identity: Identity) -> None:
        """Give the launcher its identities and wait until it can serve."""
        self._line.settimeout(_TIMEOUT)
        self._expect("unshared")
        mounts = os.path.join(self.directory, "m")
        wire.send(self._line, {"place": mounts, "identified": write_maps(self._process.pid, identity)})
        self._expect("ready")
        self._line.settimeout(None)

    def _expect(self, kind: str) -> None:
        try:
            message, _ = wire.receive(self._line)
        except TimeoutError:
            message = {}
        if not message or kind not in message:
            reason = (message or {}).get("refused") or f"the launcher has ended{_last_line(self._log)}"
            raise ContainersForbidden(f"cannot start containers here: {reason}")

    def start(self, key: str, request: wire.Message, files: Sequence[int]) -> LaunchedContainer:
        """Start a container with these standard input, output and error."""
        launched = LaunchedContainer(self, key)
        with self._lock:
            self._launched[key] = launched
            try:
                wire.send(self._line, {"start": {**request, "key": key}}, files)
            except OSError as problem:
                self._launched.pop(key, None)
                launched.report_exit(-1, f"the launcher is unreachable: {problem.strerror}", False)
        return launched

    def kill(self, key: str) -> None:
        """End a container."""
        with self._lock, contextlib.suppress(OSError):
            wire.send(self._line, {"kill": key})

    def terminate(self, key: str) -> None:
        """Ask the first process of a container to end."""
        with self._lock, contextlib.suppress(OSError):
            wire.send(self._line, {"terminate": key})

    def _listen(self) -> None:
        while True:
            message, _ = wire.receive(self._line)
            if message is None:
                break
            with self._lock:
                launched = self._launched.pop(message["ended"], None)
            if launched is not None:
                launched.report_exit(message["status"], message["why"], message["started"])
        with self._lock:
            self.alive = False
            lost, self._launched = self._launched, {}
        for launched in lost.values():
            launched.report_exit(-1, f"the launcher of containers has ended{_last_line(self._log)}", False)

    def close(self) -> None:
        """End the launcher, and with it every container."""
        with contextlib.suppress(OSError):
            self._line.shutdown(2)
        try:
            self._process.wait(_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._reader is not None:
            self._reader.join(_TIMEOUT)  # it must not read from a socket that is closed
        self._line.close()
        for group in list(self.groups):
            group.remove()
        shutil.rmtree(self.directory, ignore_errors=True)
        os.close(self._owner)


def _start(line: int, log: int) -> subprocess.Popen[bytes]:
    root = os.path.dirname(os.path.dirname(os.path.abspath(crossply.__file__)))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-c", _PROGRAM, root, str(line)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        env={"PATH": _ENGINE_PATH},
        cwd="/",
        pass_fds=[line],
        start_new_session=True,  # a Ctrl-C is for us, who then end it in order
    )


def _last_line(log: str) -> str:
    """What the launcher complained of, in the form that errors end with."""
    try:
        with open(log, encoding="utf-8", errors="replace") as file:
            lines = file.read(_LONGEST_LOG).strip().splitlines()
    except OSError:
        return ""
    return f": {lines[-1]}" if lines else ""


def _make_directory() -> str:
    """A short path that everybody may pass through: a container's root need not be ours."""
    places = [tempfile.gettempdir(), "/tmp", "/var/tmp"]
    for place in places:
        if len(place) <= _LONGEST_PLACE and os.stat(place).st_mode & 0o001:
            _remove_orphans(place)
            directory = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
            os.chmod(directory, 0o711)
            os.mkdir(os.path.join(directory, "m"), 0o711)
            os.mkdir(os.path.join(directory, "s"), 0o700)
            return directory
    raise ContainersForbidden(f"none of {', '.join(places)} is a directory that everybody may pass through")


def _own(directory: str) -> int:
    """Lock a directory for as long as this process runs."""
    opened = os.open(os.path.join(directory, "s", "owner"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return opened


def _remove_orphans(place: str) -> None:
    """Remove the directories that killed processes left behind."""
    for entry in os.scandir(place):
        if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False):
            continue
        with contextlib.suppress(OSError):
            if entry.stat(follow_symlinks=False).st_uid != os.geteuid():
                continue
            if time.time() - entry.stat(follow_symlinks=False).st_mtime < _YOUNG:
                continue
            opened = _own(entry.path)
            shutil.rmtree(entry.path, ignore_errors=True)
            os.close(opened)


_current: LauncherClient | None = None
_starting = threading.Lock()


def current_launcher() -> LauncherClient:
    """The launcher of this process, started if need be."""
    global _current
    with _starting:
        if _current is None or not _current.alive:
            if _current is not None:
                _current.close()
            else:
                atexit.register(close_launcher)
            _current = None
            _current = LauncherClient()
        return _current


def close_launcher() -> None:
    """End the launcher of this process, and every container with it."""
    global _current
    with _starting:
        closing, _current = _current, None
    if closing is not None:
        closing.close()
