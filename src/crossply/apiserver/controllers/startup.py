"""Starts and stops the controllers with the server."""

from __future__ import annotations

import asyncio

from crossply.apiserver.controllers.event_expiry import EventExpiry
from crossply.apiserver.controllers.garbage_collector.controller import GarbageCollector
from crossply.apiserver.controllers.namespace.controller import NamespaceController
from crossply.apiserver.controllers.namespace.default_objects import NamespaceContents, ensure_namespaces
from crossply.apiserver.controllers.namespace.delete_and_finalize_endpoints import delete_namespace, finalize
from crossply.apiserver.controllers.policy_status import PolicyStatus
from crossply.apiserver.server_context import ServerContext


class Controllers:
    """The controllers of one server."""

    def __init__(self, context: ServerContext, *, root_ca: str = "", collect_garbage: bool = True) -> None:
        self._context = context
        self.garbage = GarbageCollector(context)
        self.namespaces = NamespaceController(context)
        self.contents = NamespaceContents(context, root_ca)
        self.policies = PolicyStatus(context)
        self.events = EventExpiry(context)
        others = (self.namespaces, self.contents, self.policies, self.events)
        self._all = (self.garbage, *others) if collect_garbage else others

    async def start(self) -> None:
        """Create the default namespaces, and start the controllers."""
        self._context.handlers["namespaces", "finalize"] = finalize
        self._context.deleters["namespaces"] = delete_namespace
        await ensure_namespaces(self._context)
        for controller in self._all:
            controller.start()

    async def stop(self) -> None:
        """Stop the controllers; what is in progress is cancelled and resumed at the next start."""
        await asyncio.gather(*(controller.stop() for controller in self._all))

    async def settled(self) -> None:
        """Wait until all queues are idle."""
        while not all(controller.queue.idle for controller in self._all):
            await asyncio.sleep(0.001)
