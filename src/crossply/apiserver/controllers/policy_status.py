"""Writes the status of admission policies: the observed generation and type checking warnings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from crossply.apiserver.admission.policy_type_checking import expression_warnings
from crossply.apiserver.controllers.internal_calls import controller_user, internal_call
from crossply.apiserver.controllers.workqueue import WorkQueue
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.update import update
from crossply.apiserver.registry.writes import scope_of
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Event
from crossply.apiserver.stored_object_codec import decode
from crossply.apply import apply
from crossply.values import Object

POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"
MANAGER = "validatingadmissionpolicy-status"
_USER = controller_user("validatingadmissionpolicy-status-controller")


class PolicyStatus:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self.queue: WorkQueue[str] = WorkQueue(self._handle)
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        self._unsubscribe = self._context.store.subscribe(POLICIES, self._on_event)
        for entry in self._context.store.list(POLICIES):
            self.queue.add(entry.key[2])

    async def stop(self) -> None:
        self._unsubscribe()
        await self.queue.close()

    def _on_event(self, event: Event) -> None:
        if event.type != "DELETED":
            self.queue.add(event.key[2])

    async def _handle(self, name: str) -> None:
        key = (POLICIES, "", name)
        entry = self._context.store.latest(key)
        call = internal_call(self._context, key, "patch", _USER, subresource="status")
        if entry is None or call is None:
            return
        policy = decode(entry.data)
        generation = policy["metadata"].get("generation")
        if (policy.get("status") or {}).get("observedGeneration") == generation:
            return
        # Compiling the types takes a while, so it is done in a thread.
        warnings = await asyncio.to_thread(expression_warnings, policy, self._context.registry)
        desired: Object = {
            "apiVersion": policy["apiVersion"],
            "kind": policy["kind"],
            "metadata": {"name": name},
            "status": {"observedGeneration": generation, "typeChecking": _checked(warnings)},
        }
        scope, stamp = scope_of(self._context, call), self._context.timestamp()
        try:
            await update(
                self._context,
                call,
                name,
                lambda old: apply(old, desired, scope, MANAGER, stamp, True).object,
                is_applied=True,
            )
        except StatusError as problem:
            if problem.status != 404:
                raise


def _checked(warnings: list[Object]) -> Object:
    return {"expressionWarnings": warnings} if warnings else {}
