"""The runtime of functions in containers on this machine.

An endpoint `container:///REVISION` means that each replica starts the container of a revision itself, at its
first call. Its socket is reachable by this process only.
"""

from __future__ import annotations

import asyncio
import os
import time
from datetime import UTC, datetime, timedelta

import orjson

from crossply.compose.conditions import with_conditions
from crossply.compose.events import StatusCondition
from crossply.compose.function_messages import Request, Response
from crossply.compose.object_metadata import annotations_of, labels_of, name_of, uid_of
from crossply.containers.image_store import StoredImage
from crossply.containers.launcher_client import current_launcher
from crossply.containers.limit_enforcement import enforced_limits
from crossply.containers.log_file import log_path
from crossply.containers.oci_runtime import find_engine
from crossply.containers.settings import Settings
from crossply.control.calls.endpoint import Endpoint
from crossply.control.controller_context import Plane
from crossply.control.runtimes.container_settings import ContainerSettings
from crossply.control.runtimes.manifest_metadata import PACKAGE
from crossply.control.runtimes.mutual_tls_certificates import Credentials, renewal_in
from crossply.control.runtimes.package_runtime_choice import FUNCTION
from crossply.control.runtimes.pulled_images import RevisionImages
from crossply.control.runtimes.revision_container import ContainerInputs, RevisionContainer
from crossply.control.runtimes.runtime import Prepared
from crossply.functions.binding import RUNTIME, TO_COMPLETION
from crossply.functions.daemonless_container_runner import InContainer
from crossply.functions.failures import FunctionTimedOut, FunctionUnavailable
from crossply.kube.informer import Informer
from crossply.kube.watch import Key
from crossply.values import Object

SCHEME = "container"
_LIMITS_CONDITION = "LimitsHeld"
_ENFORCED = StatusCondition(_LIMITS_CONDITION, "True", "HeldByControlGroups")
_NOT_ENFORCED = StatusCondition(_LIMITS_CONDITION, "False", "NotHeldHere")
_TIMEOUT = 2.0
"""Seconds that a reconcile of a revision waits for its image; a longer pull is requeued."""
_LOCALHOST = ("localhost",)


class ContainerRuntime:
    """Runs the active revisions of Functions on this machine."""

    def __init__(
        self,
        plane: Plane,
        revisions: Informer,
        images: RevisionImages,
        settings: ContainerSettings,
        credentials: Credentials,
        logs: str = "",
    ) -> None:
        """`logs` is the directory in which the output of functions is kept; empty for nowhere."""
        self._plane = plane
        self._logs = logs
        self._revisions = revisions
        self._images = images
        self._settings = settings
        self._credentials = credentials
        self._running: dict[str, RevisionContainer] = {}
        self._loop = asyncio.get_running_loop()
        plane.functions.factory.register_scheme(SCHEME, lambda endpoint: _RevisionRunner(self, endpoint))
        revisions.subscribe(self._handle_event)

    async def prepare(self, revision: Object) -> Prepared:
        """Say where it is called, and which limits can be held here."""
        not_enforced = await asyncio.to_thread(lambda: enforced_limits().warning())
        condition = _NOT_ENFORCED._replace(message=not_enforced) if not_enforced else _ENFORCED
        desired = with_conditions(revision, (condition,), self._plane.now())
        name = name_of(revision)
        status = {"endpoint": f"{SCHEME}:///{name}", "conditions": desired["status"]["conditions"]}
        running = self._running.get(name)
        soon = datetime.now(UTC) + timedelta(seconds=1)
        return Prepared(status, soon if running is None else running.renewal)

    async def run(self, revision: Object, prepared: Prepared) -> None:
        """Have its image here, and its container ready to be started."""
        find_engine("", os.environ)
        await asyncio.to_thread(current_launcher)  # raises where containers are forbidden
        await self._ready(revision, _TIMEOUT)

    async def stop(self, revision: Object) -> None:
        """Stop its container after its last call; the image stays, but one that is not whole is given up."""
        self._images.cancel(revision)
        running = self._running.pop(name_of(revision), None)
        if running is not None:
            await asyncio.to_thread(running.retire)

    async def close(self) -> None:
        """Stop all of them."""
        await self._images.close()
        running, self._running = self._running, {}
        for container in running.values():
            await asyncio.to_thread(container.retire)

    def running(self, name: str, seconds: float) -> RevisionContainer:
        """The container of a revision, for a call from another thread, which is counted already."""
        running = self._running.get(name)
        while running is None or not running.begin_call():
            future = asyncio.run_coroutine_threadsafe(self._called(name, seconds), self._loop)
            try:
                running = future.result(seconds)
            except TimeoutError:
                future.cancel()
                raise FunctionTimedOut(f"its image is not here after {seconds:.0f} s") from None
        return running

    def rest(self, name: str) -> None:
        """No pipeline calls a revision for now."""
        running = self._running.get(name)
        if running is not None:
            running.rest()

    def _handle_event(self, change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
        """A revision that is gone needs nothing any more."""
        if new is None and old is not None:
            self._images.cancel(orjson.loads(old))
        running = self._running.pop(key[1], None) if new is None else None
        if running is not None:
            self._loop.run_in_executor(None, running.retire)

    async def _called(self, name: str, seconds: float) -> RevisionContainer:
        """The container of a revision that is called before this replica reconciled it."""
        data = self._revisions.get("", name)
        if data is None:
            raise FunctionUnavailable(
                f'FunctionRevision "{name}" is gone', hint="the next call takes another"
            )
        return await self._ready(orjson.loads(data), seconds)

    async def _ready(self, revision: Object, timeout: float) -> RevisionContainer:
        image = await self._images.fetch(revision, timeout)
        choice = self._settings.of(revision)
        inputs = await asyncio.to_thread(self._inputs, revision, image, choice.settings)
        running = self._running.get(name_of(revision))
        if running is not None and running.inputs == inputs and datetime.now(UTC) < running.renewal:
            return running
        before, running = running, self._make(revision, image, inputs)
        self._running[name_of(revision)] = running
        if before is not None:
            await asyncio.to_thread(before.retire)
        if choice.warm:
            await asyncio.to_thread(running.warm)
        return running

    def _inputs(self, revision: Object, image: StoredImage, settings: Settings) -> ContainerInputs:
        with open(os.path.join(self._credentials.directory, "ca.crt"), "rb") as file:
            trusted = file.read()
        package = labels_of(revision).get(PACKAGE, "")
        environment = (
            f"FUNCTION_NAME={package}",
            f"REVISION_NAME={name_of(revision)}",
            f"REVISION_UID={uid_of(revision)}",
        )
        settings = settings._replace(
            environment=(*environment, *settings.environment),
            log_file=log_path(self._logs, FUNCTION, package) if self._logs else "",
        )
        to_completion = annotations_of(revision).get(RUNTIME) == TO_COMPLETION
        return ContainerInputs(image.digest, settings, to_completion, trusted)

    def _make(self, revision: Object, image: StoredImage, inputs: ContainerInputs) -> RevisionContainer:
        files = self._credentials.server_files(_LOCALHOST)
        certificates = self._credentials.new_files()
        certificates.replace(files)
        runner = InContainer(
            labels_of(revision).get(PACKAGE, ""),
            lambda _: image,
            inputs.settings._replace(tls_certificates=certificates.directory),
            self._credentials.directory,
            inputs.to_completion,
        )
        return RevisionContainer(inputs, runner, certificates, renewal_in(files))


class _RevisionRunner:
    """Calls one revision; starts its container if it does not run."""

    def __init__(self, runtime: ContainerRuntime, endpoint: Endpoint) -> None:
        self._runtime = runtime
        self._endpoint = endpoint

    def __call__(self, request: Request, timeout: float) -> Response:
        deadline = time.monotonic() + timeout
        running = self._runtime.running(self._endpoint.revision, timeout)
        return running.call(request, max(deadline - time.monotonic(), 0.001))

    def close(self) -> None:
        """Stop what was started for the calls."""
        self._runtime.rest(self._endpoint.revision)
