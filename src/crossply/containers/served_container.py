"""A container that serves gRPC on port 9443 for as long as it is needed.

It is started by the first call, restarted with a growing pause after it ended, and stopped when it is idle or
when too many other containers are called more often.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from crossply.containers.container import Container
from crossply.containers.failures import ContainerError, NotListening
from crossply.containers.image_store import StoredImage
from crossply.containers.output_tail import ContainerLog
from crossply.containers.settings import Settings
from crossply.containers.warm_pool import WarmPool
from crossply.values.backoff import pause_after

PORT = 9443
_POLL = 0.002
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_RECENT = 1.0
_LEAST_IDLE = 0.1
_SETTLED = 30.0
"""Seconds after which a container that ends is not one that ends again and again."""


_POOL = WarmPool()


class ServedContainer:
    """One function's container, started when it is needed. It can be used from several threads at once."""

    def __init__(self, name: str, image: StoredImage, settings: Settings, pool: WarmPool = _POOL) -> None:
        self.name = name
        self._pool = pool
        self._image = image
        self._settings = _as_server(settings)
        self._lock = threading.RLock()
        self._serving: _Serving | None = None
        self._pauses = RestartBackoff()
        self._last_failure: _Failure | None = None
        self._last_call = 0.0
        self._calls = 0

    def target(self, timeout: float) -> str:
        """Where gRPC reaches the container (`unix:/…`), started and accepting calls, within `timeout`.

        Raises ContainerEnded (OutOfMemory), NotListening or another ContainerError.
        """
        with self._lock:
            self._last_call = time.monotonic()
            self._watch_exit()
            if self._serving is None:
                self._start(min(timeout, self._settings.start_seconds))
            assert self._serving is not None
            return self._serving.target

    @contextlib.contextmanager
    def calling(self, timeout: float) -> Iterator[str]:
        """The target of one call; the container is not stopped during it."""
        with self._lock:
            target = self.target(timeout)
            self._calls += 1
        try:
            yield target
        finally:
            with self._lock:
                self._calls -= 1
                self._last_call = time.monotonic()

    def raise_if_exited(self, within: float) -> None:
        """After a broken connection: raise what ended the container, if it ends in the next moments."""
        serving = self._serving
        if serving is not None:
            serving.running.wait(within)
        with self._lock:
            self._watch_exit()
            failure = self._last_failure
        # Another call on the same connection may have noticed first, and restarted it.
        if failure is not None and time.monotonic() - failure.at < within + _RECENT:
            raise failure.error()

    def warm(self) -> None:
        """Start it in the background, before the first call."""
        threading.Thread(target=self._warm, daemon=True, name=f"warm {self.name}").start()

    def close(self) -> None:
        """Stop it; the next call would start it again."""
        with self._lock:
            serving, self._serving = self._serving, None
            self._pool.stopped(self)
            if serving is not None:
                serving.stop()

    def last_call(self) -> float:
        """When it was last called."""
        return self._last_call

    def cool_down(self) -> None:
        """Stop it to make room for others, unless it is being called or started."""
        if self._lock.acquire(blocking=False):
            try:
                if not self._calls:
                    self.close()
            finally:
                self._lock.release()

    def log(self) -> str:
        """The last of what it wrote."""
        with self._lock:
            return self._serving.log.text() if self._serving is not None else ""

    def _warm(self) -> None:
        try:
            self.target(self._settings.start_seconds)
        except ContainerError:
            return  # the first call will fail the same way, and say so

    def _start(self, timeout: float) -> None:
        pause = self._pauses.left(time.monotonic())
        if pause > 0 and self._last_failure is not None:
            raise self._last_failure.error(f" (it is started again in {pause:.0f} s)")
        serving = _Serving(self._image, self._settings)
        try:
            serving.wait_until_listening(time.monotonic() + timeout)
        except ContainerError as problem:
            serving.stop()
            self._failed(problem, serving)
            raise
        self._serving = serving
        self._stop_when_idle(self._settings.idle_seconds)
        self._pool.started(self)

    def _watch_exit(self) -> None:
        serving = self._serving
        if serving is None or not serving.running.wait(0):
            return
        self._serving = None
        self._pool.stopped(self)
        serving.log.finish()
        self._failed(serving.running.explain(serving.log.last_lines()), serving)
        serving.stop()

    def _failed(self, problem: ContainerError, serving: _Serving) -> None:
        self._last_failure = _Failure(type(problem), str(problem), problem.hint, time.monotonic())
        self._pauses.record_exit(serving.began, time.monotonic())

    def _stop_when_idle(self, seconds: float) -> None:
        serving = self._serving

        def check() -> None:
            with self._lock:
                if self._serving is not serving:
                    return
                left = self._last_call + self._settings.idle_seconds - time.monotonic()
                if left <= 0 and not self._calls:
                    self.close()
                else:
                    self._stop_when_idle(max(left, _LEAST_IDLE))

        timer = threading.Timer(seconds, check)
        timer.daemon = True
        timer.start()
        assert serving is not None
        serving.timer = timer


class _Failure(NamedTuple):
    """Why it exited, to be raised for every later call."""

    kind: type[ContainerError]
    message: str
    hint: str
    at: float

    def error(self, more: str = "") -> ContainerError:
        return self.kind(f"{self.message}{more}", hint=self.hint)


def _as_server(settings: Settings) -> Settings:
    """The settings with the argument that makes functions serve without TLS."""
    if settings.tls_certificates:
        return settings
    return settings._replace(arguments=(*(settings.arguments or ()), "--insecure"))


class RestartBackoff:
    """How long to wait before a container that ended is started again: not at all at first, then longer."""

    def __init__(self) -> None:
        self._failures = 0
        self._not_before = 0.0

    def record_exit(self, began: float, now: float) -> None:
        """It ended, or did not come up."""
        if now - began >= _SETTLED:
            self._failures = 0
        pause = pause_after(self._failures, _FIRST_PAUSE, _LONGEST_PAUSE) if self._failures else 0.0
        self._failures += 1
        self._not_before = now + pause

    def left(self, now: float) -> float:
        """Seconds until it may be started."""
        return max(0.0, self._not_before - now)


class _Serving:
    """One start of the container."""

    def __init__(self, image: StoredImage, settings: Settings) -> None:
        self.began = time.monotonic()
        self.timer: threading.Timer | None = None
        self.log = ContainerLog(settings.log_file)
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            files = [nothing, self.log.write, self.log.write]
            self.running = Container(image, settings, files, PORT)
        finally:
            os.close(nothing)
            self.log.begin()
        self.target = f"unix:{self.running.socket}"

    def wait_until_listening(self, deadline: float) -> None:
        """Wait until the function listens; its relay does as soon as it does."""
        while not os.path.exists(self.running.socket):
            if self.running.wait(_POLL):
                self.log.finish()
                raise self.running.explain(self.log.last_lines())
            if time.monotonic() > deadline:
                raise NotListening(f"its container does not listen on port {PORT}{self.log.last_lines()}")

    def stop(self) -> None:
        """End it."""
        if self.timer is not None:
            self.timer.cancel()
        self.running.end()
        self.log.finish()
