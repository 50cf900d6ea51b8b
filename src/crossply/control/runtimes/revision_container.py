"""The container of one revision; a change of its inputs replaces it."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import NamedTuple

from crossply.compose.function_messages import Request, Response
from crossply.containers.settings import Settings
from crossply.control.runtimes.private_files import PrivateFiles
from crossply.functions.daemonless_container_runner import InContainer


class ContainerInputs(NamedTuple):
    """What a container was made of: when one of these changes, another one is made."""

    digest: str
    settings: Settings
    to_completion: bool
    trusted: bytes
    """Whom the function is to trust, who calls it."""


class RevisionContainer:
    """One container, which ends with its last call once it was replaced."""

    def __init__(
        self, inputs: ContainerInputs, runner: InContainer, certificates: PrivateFiles, renewal: datetime
    ) -> None:
        self.inputs = inputs
        self.renewal = renewal
        """When its certificate is to be replaced, and the container with it."""
        self._runner = runner
        self._certificates = certificates
        self._lock = threading.Lock()
        self._calls = 0
        self._stopping = self._retired = False

    def begin_call(self) -> bool:
        """Count a call; not where the container was replaced already."""
        with self._lock:
            self._calls += not self._retired
            return not self._retired

    def call(self, request: Request, timeout: float) -> Response:
        """Call the function; `begin_call` counted it."""
        try:
            return self._runner(request, timeout)
        finally:
            with self._lock:
                self._calls -= 1
                last = not self._calls
                stopping, self._stopping = self._stopping, self._stopping and not last
            if last and self._retired:
                self._close()
            elif last and stopping:
                self._runner.close()

    def warm(self) -> None:
        """Start the container before the first call."""
        self._runner.warm()

    def rest(self) -> None:
        """Stop the container after the calls that are under way; the next one starts it again."""
        with self._lock:
            self._stopping = bool(self._calls)
            idle = not self._calls
        if idle:
            self._runner.close()

    def retire(self) -> None:
        """Take no more calls, and end with the last one."""
        with self._lock:
            first, self._retired = not self._retired, True
            idle = not self._calls
        if first and idle:
            self._close()

    def _close(self) -> None:
        self._runner.close()
        self._certificates.remove()
