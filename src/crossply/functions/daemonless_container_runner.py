"""Calls a function in a container on this machine, without a daemon.

Most functions serve gRPC for as long as they run. One whose image says so runs to completion instead, once
for each call: it reads a RunFunctionRequest in JSON on stdin and writes a RunFunctionResponse on stdout.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from crossply.compose.function_messages import Request, Response
from crossply.containers.image_store import StoredImage
from crossply.containers.served_container import ServedContainer
from crossply.containers.settings import Settings
from crossply.errors import CrossplyError
from crossply.functions.failures import FunctionError, FunctionUnavailable
from crossply.functions.json_messages import read_answer, write_request
from crossply.functions.one_shot_image_run import completed
from crossply.functions.remote import Remote
from crossply.functions.runner import Runner
from crossply.xpkg.run_to_completion_image import LABEL, RUNS_TO_COMPLETION

Fetch = Callable[[float], StoredImage]
"""Gets the image within so many seconds."""


class InContainer:
    """A function in a container, which is started at the first call."""

    __slots__ = ("_certificates", "_fetch", "_lock", "_name", "_runner", "_settings", "_to_completion")

    def __init__(
        self,
        name: str,
        fetch: Fetch,
        settings: Settings,
        certificates: str | None = None,
        to_completion: bool = False,
    ) -> None:
        """`certificates` are the caller's; `to_completion` also where the image does not say so."""
        self._name = name
        self._fetch = fetch
        self._settings = settings
        self._certificates = certificates
        self._to_completion = to_completion
        self._runner: Runner | None = None
        self._lock = threading.Lock()

    def __call__(self, request: Request, timeout: float) -> Response:
        """Call the function; pulls its image and starts its container first if necessary."""
        deadline = time.monotonic() + timeout
        try:
            return self._open(timeout)(request, max(deadline - time.monotonic(), 0.001))
        except CrossplyError as problem:
            if isinstance(problem, FunctionError) and problem.function:
                raise
            raise problem.within(f'cannot run Function "{self._name}"') from None

    def warm(self) -> None:
        """Start the container in the background, before the first call; its image must be here."""
        runner = self._open(0.0)
        if isinstance(runner, _Served):
            runner.warm()

    def close(self) -> None:
        """Stop the container."""
        with self._lock:
            runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()

    def _open(self, timeout: float) -> Runner:
        with self._lock:
            if self._runner is None:
                self._runner = self._opened(self._fetch(timeout))
            return self._runner

    def _opened(self, image: StoredImage) -> Runner:
        if self._to_completion or runs_to_completion(image):
            return _RunToCompletion(self._name, image, self._settings)
        return _Served(self._name, image, _serving(self._settings), self._certificates)


def _serving(settings: Settings) -> Settings:
    """Settings with `--insecure` for a function that has no certificates."""
    if settings.tls_certificates or settings.arguments is not None:
        return settings
    return settings._replace(arguments=("--insecure",))


def runs_to_completion(image: StoredImage) -> bool:
    """Whether the label of an image says that it is run once for each call."""
    inner = image.config.get("config")
    labels = inner.get("Labels") if isinstance(inner, dict) else None
    return isinstance(labels, dict) and labels.get(LABEL) == RUNS_TO_COMPLETION


class _RunToCompletion:
    """Runs a container for each call."""

    __slots__ = ("_image", "_name", "_settings")

    def __init__(self, name: str, image: StoredImage, settings: Settings) -> None:
        self._name = name
        self._image = image
        self._settings = settings

    def __call__(self, request: Request, timeout: float) -> Response:
        settings = self._settings._replace(timeout=timeout)
        sent = write_request(request)
        return read_answer(completed(self._image, sent, settings), sent, self._name)

    def close(self) -> None:
        """Nothing stays open between calls."""


class _Served:
    """A function that serves gRPC in its container."""

    __slots__ = ("_certificates", "_container", "_lock", "_name", "_remote")

    def __init__(self, name: str, image: StoredImage, settings: Settings, certificates: str | None) -> None:
        self._name = name
        self._certificates = certificates
        self._container = ServedContainer(name, image, settings)
        self._remote: tuple[str, Remote] | None = None
        self._lock = threading.Lock()

    def __call__(self, request: Request, timeout: float) -> Response:
        deadline = time.monotonic() + timeout
        with self._container.calling(timeout) as target:
            try:
                return self._at(target)(request, max(deadline - time.monotonic(), 0.001))
            except FunctionUnavailable:
                # A container that ends in the middle of a call shows first as a broken connection.
                self._container.raise_if_exited(within=0.5)
                raise

    def warm(self) -> None:
        self._container.warm()

    def close(self) -> None:
        with self._lock:
            known, self._remote = self._remote, None
        if known is not None:
            known[1].close()
        self._container.close()

    def _at(self, target: str) -> Remote:
        """The client of a target; a container that was restarted may listen elsewhere."""
        with self._lock:
            before = self._remote
            if before is not None and before[0] == target:
                return before[1]
            self._remote = (target, Remote(self._name, target, self._certificates))
            remote = self._remote[1]
        if before is not None:
            before[1].close()
        return remote
