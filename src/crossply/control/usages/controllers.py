"""The controllers of Usages, one for each of their kinds. Every replica reconciles its own part of them."""

from __future__ import annotations

import asyncio

from crossply.control.controller_context import Plane
from crossply.control.usages.usage_index import Usages
from crossply.control.usages.usage_model import USAGE_KINDS, UsageKey
from crossply.control.usages.usage_reconciler import UsageReconciler
from crossply.control.usages.usage_watches import AwaitedResources
from crossply.kube.controller import Controller, Reconcile, Requeue, Spec, controller_name
from crossply.kube.kind import Kind
from crossply.kube.watch import Key

_CONCURRENCY = 16
_ATTEMPTS = 6
"""How often a Usage of a kind that is not served is retried, until only a definition enqueues it again."""


class UsageControllers:
    """Keeps every Usage in line."""

    def __init__(self, plane: Plane, usages: Usages) -> None:
        self._plane = plane
        self._usages = usages
        self._controllers: dict[Kind, Controller] = {}
        self._watches = AwaitedResources(plane, usages, self._enqueue)
        self._reconciler = UsageReconciler(plane, usages, self._watches)

    def start(self) -> None:
        """Begin with all that exist."""
        for kind in USAGE_KINDS:
            controller = self._controllers[kind] = self._controller(kind)
            controller.start()

    async def stop(self) -> None:
        """Stop reconciling; nothing is undone."""
        await asyncio.gather(*(controller.stop() for controller in self._controllers.values()))
        await self._watches.stop()

    def _controller(self, kind: Kind) -> Controller:
        name = controller_name("usage", kind)
        spec = Spec(
            name=name,
            reconciles=self._usages.informer(kind),
            reconcile=self._reconcile(kind),
            elsewhere=self._leave_to_another(kind),
            shard_key=lambda key: "/".join((name, *key)),
            concurrency=_CONCURRENCY,
        )
        return Controller(self._plane, spec)

    def _enqueue(self, key: UsageKey) -> None:
        controller = self._controllers[key.kind]
        controller.reset_backoff(key[1:])
        controller.enqueue(key[1:])

    def _reconcile(self, kind: Kind) -> Reconcile:
        async def reconcile(key: Key) -> Requeue | None:
            is_worth_retrying = await self._reconciler.reconcile(UsageKey(kind, *key))
            retries = is_worth_retrying and self._controllers[kind].failures(key) < _ATTEMPTS
            return Requeue() if retries else None

        return reconcile

    def _leave_to_another(self, kind: Kind) -> Reconcile:
        async def leave(key: Key) -> None:
            self._watches.settle(UsageKey(kind, *key), ())

        return leave
