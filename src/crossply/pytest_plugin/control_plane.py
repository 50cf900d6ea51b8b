"""The `control_plane` fixture: an API server and all controllers, in memory, in a thread of this process.

Everything a test does goes through the API, as it would with kubectl. The methods wait for their answers, and
for what takes its time: a kind that is to be established, a condition that is to become true.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from crossply.apiserver.assembly import RunningServer, Settings
from crossply.compose.conditions import read_conditions
from crossply.control.control_plane import ControlPlane
from crossply.control.options import Options
from crossply.control.package_manager.settings import PackageSettings
from crossply.control.runtimes.package_runtime_choice import parse_runtimes
from crossply.control.runtimes.runtime_set import RuntimeSettings
from crossply.functions.binding import DEVELOPMENT_TARGET, REMOTE, RUNTIME
from crossply.functions.host_access_policy import EVERYTHING
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.discovery import Discovery, UnknownKind
from crossply.kube.failures import NotFound, NotServed
from crossply.kube.kind import Kind
from crossply.manifests.files import object_of, read_documents
from crossply.values import Object, yaml
from crossply.xpkg.keychain import default_keychain

if TYPE_CHECKING:
    from crossply.functions.server import FunctionServer

Input = str | os.PathLike[str] | Object
"""The path of a file or directory, the text of one (it has more than one line), or an object."""
Objects = list[Object]
Answer = TypeVar("Answer")

MANAGER = "crossply-tests"
PATIENCE = 30.0
_PAUSE = 0.02
_NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)


class NotInTime(AssertionError):
    """What a test waited for did not come."""


class Plane:
    """A control plane, and what tests do with it."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.kubeconfig = os.path.join(directory, "kubeconfig")
        """For programs that want to use the same control plane."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="control plane", daemon=True)
        self._ready: Future[None] = Future()
        self._stopped = asyncio.Event()
        self._served: list[FunctionServer] = []

    def start(self) -> Plane:
        """Start it, and wait until it is ready."""
        self._thread.start()
        self._ready.result()
        return self

    def __enter__(self) -> Plane:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()
        while self._served:
            self._served.pop().stop()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                server = RunningServer(Settings(self.directory, in_memory=True))
                await server.start()
                stack.push_async_callback(server.stop)
                self._client = await stack.enter_async_context(Client(load_config(server.kubeconfig)))
                self._discovery = Discovery(self._client)
                plane = ControlPlane(self._client, options=self._options())
                stack.push_async_callback(plane.stop)
                await plane.start()
                self._ready.set_result(None)
                await self._stopped.wait()
        except BaseException as problem:
            if self._ready.done():
                raise
            self._ready.set_exception(problem)

    def _options(self) -> Options:
        """Those of `crossply up`, for the author of the functions."""
        return Options(
            packages=PackageSettings(
                os.path.join(self.directory, "packages"),
                logins=default_keychain(os.environ),
                service_account="",
            ),
            images=os.path.join(self.directory, "images"),
            runtimes=RuntimeSettings(parse_runtimes("Container")),
            # Only the test that made the control plane reaches it, and that is code on this machine anyway.
            host_access=EVERYTHING,
        )

    def _wait(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def apply(self, *sources: Input, timeout: float = PATIENCE) -> Objects:
        """Apply objects and files in their order; a kind that is not served yet is waited for.

        A namespace that an object is in, and that is not there, is made.
        """
        return [self._wait(self._apply(obj, timeout)) for source in sources for obj in _objects(source)]

    def serve(self, name: str, function: Callable[..., Any]) -> Object:
        """Serve a Python function from this process, as the Function of this name."""
        from crossply.functions.server import FunctionServer, ServerSettings

        server = FunctionServer(name, getattr(function, "run", function), ServerSettings("127.0.0.1:0"))
        self._served.append(server)
        annotations = {RUNTIME: REMOTE, DEVELOPMENT_TARGET: f"127.0.0.1:{server.port}"}
        (function_object,) = self.apply(
            {
                "apiVersion": "pkg.crossplane.io/v1",
                "kind": "Function",
                "metadata": {"name": name, "annotations": annotations},
                "spec": {"package": f"registry.example.org/{name}:v0.0.0"},
            }
        )
        return function_object

    def get(
        self, api_version: str | Object, kind: str = "", name: str = "", namespace: str = ""
    ) -> Object | None:
        """The live object, or None: `get("v1", "Secret", "s", "default")`, `get(obj)`."""
        return self._wait(self._get(*_identity(api_version, kind, name, namespace)))

    def list(self, api_version: str, kind: str, namespace: str = "", labels: str = "") -> Objects:
        """All objects of a kind, or those in a namespace, or with labels (`app=shop,tier!=test`)."""
        return self._wait(self._list(api_version, kind, namespace, labels))

    def delete(self, obj: Object, *, wait: bool = True, timeout: float = PATIENCE) -> None:
        identity = _identity(obj)
        self._wait(self._delete(*identity))
        if wait:
            self.wait_until(obj, lambda live: live is None, timeout)

    def set_status(self, obj: Object, status: Object) -> Object:
        """Change the status of an object by a merge patch, as a provider would."""
        return self._wait(self._set_status(obj, status))

    def set_ready(self, obj: Object) -> Object:
        """Set the conditions of a ready managed resource."""
        conditions = [
            {
                "type": kind,
                "status": "True",
                "reason": "Available",
                "lastTransitionTime": "2024-01-01T00:00:00Z",
            }
            for kind in ("Ready", "Synced")
        ]
        return self.set_status(obj, {"conditions": conditions})

    def composed(self, xr: Object) -> Objects:
        """What an XR is composed of, as far as it exists."""
        current = self.get(xr) or {}
        spec = current.get("spec") or {}
        references: Iterable[Object] = (spec.get("crossplane") or spec).get("resourceRefs") or ()
        namespace = current.get("metadata", {}).get("namespace", "")
        objects = [
            self.get(
                reference["apiVersion"],
                reference["kind"],
                reference["name"],
                reference.get("namespace") or namespace,
            )
            for reference in references
            if reference.get("name")
        ]
        return [obj for obj in objects if obj is not None]

    def wait_until(
        self, obj: Object, holds: str | Callable[[Object | None], Any], timeout: float = PATIENCE
    ) -> Any:
        """Wait until a condition of an object is true, or until a function of it is; gives the object then.

        The function is given None while the object is not there.
        """
        identity = _identity(obj)
        check = _has_condition(holds) if isinstance(holds, str) else holds
        end = time.monotonic() + timeout
        while True:
            live = self._wait(self._get(*identity))
            if check(live):
                return live
            if time.monotonic() > end:
                condition = f"condition {holds}" if isinstance(holds, str) else "it"
                raise NotInTime(
                    f"{condition} did not come true in {timeout:g} s of {_description(identity, live)}"
                )
            time.sleep(_PAUSE)

    async def _kind(self, api_version: str, kind: str, timeout: float = 0.0) -> Kind:
        end = time.monotonic() + timeout
        while True:
            try:
                return await self._discovery.kind_for(api_version, kind)
            except UnknownKind:
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(_PAUSE)
                self._discovery.doubt()

    async def _apply(self, obj: Object, timeout: float) -> Object:
        kind = await self._kind(obj["apiVersion"], obj["kind"], timeout)
        namespace = (obj.get("metadata") or {}).get("namespace")
        if kind.namespaced and namespace and await self._client.get(_NAMESPACE, namespace) is None:
            home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            await self._client.apply(_NAMESPACE, home, MANAGER)
        end = time.monotonic() + timeout
        while True:
            try:
                return await self._client.apply(kind, obj, MANAGER)
            except NotServed:
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(_PAUSE)

    async def _get(self, api_version: str, kind: str, name: str, namespace: str) -> Object | None:
        try:
            return await self._client.get(await self._kind(api_version, kind), name, namespace)
        except (UnknownKind, NotFound):
            return None

    async def _list(self, api_version: str, kind: str, namespace: str, labels: str) -> Objects:
        listed = await self._client.list(await self._kind(api_version, kind), namespace, labels)
        return [orjson.loads(item) for item in listed.items]

    async def _delete(self, api_version: str, kind: str, name: str, namespace: str) -> None:
        await self._client.delete(await self._kind(api_version, kind), name, namespace)

    async def _set_status(self, obj: Object, status: Object) -> Object:
        api_version, kind, name, namespace = _identity(obj)
        served = await self._kind(api_version, kind)
        patch = {"status": status}
        try:
            return await self._client.patch_merge(served, name, patch, namespace, MANAGER, "status")
        except NotFound:
            # A kind without a subresource for the status has it among its other fields.
            return await self._client.patch_merge(served, name, patch, namespace, MANAGER)


def _objects(source: Input) -> Objects:
    if isinstance(source, dict):
        return [source]
    text = os.fspath(source)
    if "\n" in text:
        documents = yaml.read_documents(text, "text")
    else:
        documents = read_documents(text, f"cannot apply {text}")
    return [object_of(document, "cannot apply") for document in documents if document.value is not None]


def _identity(
    identity: str | Object, kind: str = "", name: str = "", namespace: str = ""
) -> tuple[str, str, str, str]:
    if isinstance(identity, str):
        return identity, kind, name, namespace
    metadata = identity.get("metadata") or {}
    return identity["apiVersion"], identity["kind"], metadata["name"], metadata.get("namespace") or ""


def _has_condition(kind: str) -> Callable[[Object | None], bool]:
    def check(obj: Object | None) -> bool:
        conditions = read_conditions((obj or {}).get("status"))
        return any(
            condition.get("type") == kind and condition.get("status") == "True" for condition in conditions
        )

    return check


def _description(identity: tuple[str, str, str, str], obj: Object | None) -> str:
    from crossply.values.yaml import dump

    name = f"{identity[1]} {identity[2]}"
    return f"{name}, which is not there" if obj is None else f"{name}:\n{dump(obj)}"
