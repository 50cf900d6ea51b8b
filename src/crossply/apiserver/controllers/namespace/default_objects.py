"""Creates the default namespaces, and in each namespace the default ServiceAccount and the root CA ConfigMap.

The objects are created again when somebody deletes them.
"""

from __future__ import annotations

from collections.abc import Callable

from crossply.apiserver.controllers.internal_calls import controller_user, internal_call
from crossply.apiserver.controllers.workqueue import WorkQueue
from crossply.apiserver.endpoints.request_info import User
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.create import create
from crossply.apiserver.registry.defaulting_and_pruning import normalize
from crossply.apiserver.registry.update import update
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Event, Key
from crossply.apiserver.stored_object_codec import decode
from crossply.values import Object

DEFAULT_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
ROOT_CA = "kube-root-ca.crt"
_SERVER = User("system:apiserver", ("system:masters", "system:authenticated"))
_ACCOUNTS = controller_user("service-account-controller")
_PUBLISHER = controller_user("root-ca-cert-publisher")


async def ensure_namespaces(context: ServerContext) -> None:
    for name in DEFAULT_NAMESPACES:
        key: Key = ("namespaces", "", name)
        if context.store.latest(key) is None:
            await _create(context, key, _SERVER, _namespace(name))


def _namespace(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


async def _create(context: ServerContext, key: Key, user: User, obj: Object) -> None:
    call = internal_call(context, key, "create", user)
    if call is None:
        return
    try:
        await create(context, call, normalize(call, obj))
    except StatusError as problem:
        # It exists already, or the namespace is missing or terminating: nothing to do.
        if problem.status not in (403, 404, 409):
            raise


class NamespaceContents:
    def __init__(self, context: ServerContext, root_ca: str = "") -> None:
        self._context = context
        self._root_ca = root_ca
        self.queue: WorkQueue[str] = WorkQueue(self._handle)
        self._stops: list[Callable[[], None]] = []

    def start(self) -> None:
        """Enqueue all namespaces, and watch the store."""
        store = self._context.store
        self._stops = [
            store.subscribe("namespaces", self._on_namespace_event),
            store.subscribe("serviceaccounts", self._on_account_event),
            store.subscribe("configmaps", self._on_certificate_event),
        ]
        for entry in store.list("namespaces"):
            self.queue.add(entry.key[2])

    async def stop(self) -> None:
        for stop in self._stops:
            stop()
        await self.queue.close()

    def _on_namespace_event(self, event: Event) -> None:
        if event.type == "ADDED":
            self.queue.add(event.key[2])

    def _on_account_event(self, event: Event) -> None:
        if event.type == "DELETED" and event.key[2] == "default":
            self.queue.add(event.key[1])

    def _on_certificate_event(self, event: Event) -> None:
        if event.key[2] == ROOT_CA and event.type != "ADDED":
            self.queue.add(event.key[1])

    async def _handle(self, namespace: str) -> None:
        entry = self._context.store.latest(("namespaces", "", namespace))
        if entry is None or decode(entry.data)["metadata"].get("deletionTimestamp"):
            return
        account: Key = ("serviceaccounts", namespace, "default")
        if self._context.store.latest(account) is None:
            await _create(self._context, account, _ACCOUNTS, _object("ServiceAccount", account, {}))
        if self._root_ca:
            await self._publish(("configmaps", namespace, ROOT_CA))

    async def _publish(self, key: Key) -> None:
        data = {"ca.crt": self._root_ca}
        entry = self._context.store.latest(key)
        if entry is None:
            await _create(self._context, key, _PUBLISHER, _object("ConfigMap", key, {"data": data}))
            return
        call = internal_call(self._context, key, "update", _PUBLISHER)
        if call is not None and decode(entry.data).get("data") != data:
            await update(self._context, call, key[2], lambda old: {**old, "data": data})


def _object(kind: str, key: Key, content: Object) -> Object:
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": key[2], "namespace": key[1]},
        **content,
    }
