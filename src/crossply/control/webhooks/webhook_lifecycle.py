"""Admission webhooks of a control plane: the server, its certificate, and what API servers know of it.

Nothing is polled: the Secret and the configuration are watched, and restored when
they are changed. Every replica answers. Replicas behind a Service agree on everything; without one the
replica that started last is the one that is called, and another takes over when it stops or is lost.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import ssl
from datetime import UTC, datetime

import orjson

from crossply.compose.object_metadata import annotations_of
from crossply.control.controller_context import Plane
from crossply.control.replica_shared_secret import MANAGER
from crossply.control.usages.usage_index import Usages
from crossply.control.webhooks.certificates import (
    NoCertificate,
    ServingCertificate,
    SharedCertificate,
    selection_in,
)
from crossply.control.webhooks.configuration import (
    CONFIGURATIONS,
    LEFT,
    configuration_of,
    remove_legacy_configuration,
    url_in,
    webhooks_for,
)
from crossply.control.webhooks.configuration import NAME as CONFIGURATION
from crossply.control.webhooks.usage_review import UsageReview
from crossply.control.webhooks.webhook_address import WebhookSettings, answers, find_address
from crossply.control.webhooks.webhook_server import PATH, WebhookServer
from crossply.errors import CrossplyError
from crossply.kube.core_kinds import SECRET
from crossply.kube.failures import Conflict, ServerFull
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.kube.sharding import ShardSet
from crossply.kube.workqueue import Workqueue
from crossply.values import Object

_DAY = 86_400.0
_GOODBYE_SECONDS = 5.0
_log = logging.getLogger("crossply.webhook")


class InformerNotSynced(CrossplyError):
    """Objects that webhooks need cannot be read, usually because a right is missing."""

    code = "CP-814"
    hint = "grant the rights to it, or do without webhooks: --enable-webhooks=false"


class Webhooks:
    """Starts before Usages are worked on, and stops after."""

    def __init__(self, plane: Plane, usages: Usages, settings: WebhookSettings) -> None:
        self._plane = plane
        self._usages = usages
        self._settings = settings
        self._server = WebhookServer(UsageReview(plane, usages).review)
        self._queue: Workqueue[str] = Workqueue("webhooks")
        self._task: asyncio.Task[None] | None = None
        self._shown: ServingCertificate | None = None
        self._port = 0
        self._written: tuple[str, list[Object]] = ("", [])
        """What we wrote last, and the version that became of it; a server may have its own way to put it."""
        self._introduced = False
        """Whether the configuration for API servers was written."""

    async def start(self) -> None:
        """Serve, and have API servers ask us."""
        server = self._plane.as_controller.config.server
        self._address = await asyncio.to_thread(find_address, self._settings, server)
        home = selection_in(self._settings.service_namespace)
        self._secrets = self._open_cache(SECRET, home, "certificate")
        selection = Selection(fields=f"metadata.name={CONFIGURATION}")
        self._configurations = self._open_cache(CONFIGURATIONS, selection, "configuration")
        for cache in (self._secrets, self._configurations):
            await _wait_for_sync(cache)
        names = self._address.names
        self._certificate = SharedCertificate(
            self._plane.as_controller, self._secrets, names, lambda: datetime.now(UTC)
        )
        await self._renew()
        self._port = await self._server.start(self._address.listen, self._settings.port)
        await self._introduce()
        await remove_legacy_configuration(self._plane.as_controller)
        self._detach = self._plane.shards.attach(self)
        self._task = asyncio.create_task(self._queue.run(self._work, 1))

    async def _introduce(self) -> None:
        """Have API servers ask us, as soon as they can store that."""
        try:
            await self._configure()
        except (ServerFull, Conflict) as problem:
            _log.warning("webhook configuration: %s", problem)
            self._queue.retry("configuration")
        self._introduced = True

    async def stop(self) -> None:
        """Stop serving. Where nothing is in use the configuration is removed; else deletions are refused."""
        if self._task is not None:
            self._detach()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._say_goodbye()
        await self._server.stop()

    def gained(self, shards: ShardSet) -> None:
        """Another replica is gone, unless this is the first call: it may be the one that is called."""
        self._queue.add("configuration")

    async def drain(self, shards: ShardSet) -> None:
        """Nothing that we do belongs to a shard."""

    def abandon(self) -> None:
        """There is nothing to cut short."""

    def _open_cache(self, kind: Kind, selection: Selection, work: str) -> Informer:
        cache = self._plane.informers.acquire(kind, selection)
        cache.subscribe(lambda *_event: self._queue.add(work))
        return cache

    async def _work(self, task: str) -> None:
        try:
            await (self._renew() if task == "certificate" else self._configure())
        except (CrossplyError, Conflict) as problem:
            _log.warning("webhook %s: %s", task, problem)
            self._queue.retry(task)

    async def _renew(self) -> None:
        """Show the certificate of the Secret, and be back when it is due."""
        certificate = await self._certificate.ensure()
        if certificate != self._shown:
            try:
                self._server.use(certificate)
            except ssl.SSLError as problem:
                raise NoCertificate(f"cannot use the certificate in the Secret: {problem}") from None
            self._shown = certificate
            self._queue.add("configuration")
        left = (certificate.renewal - datetime.now(UTC)).total_seconds()
        # Clocks may jump, and machines sleep: look at it every day, which costs nothing.
        self._queue.add_after("certificate", min(max(left, 1.0), _DAY))

    async def _configure(self) -> None:
        live = self._live()
        if live is not None and (self._is_right(live) or await self._is_answered(live)):
            return
        if live is not None:
            # Another replica may have renewed the certificate just now.
            await self._certificate.refresh()
            await self._renew()
            if self._is_right(live):
                return
        desired = self._webhooks()
        body = configuration_of(live, desired)
        # Who composes may only change the one that is there.
        write = self._plane.as_installer.create if live is None else self._plane.as_controller.update
        written = await write(CONFIGURATIONS, body, MANAGER)
        self._written = (written["metadata"]["resourceVersion"], desired)
        self._configurations.record_write(written)

    def _live(self) -> Object | None:
        data = self._configurations.get("", CONFIGURATION)
        return None if data is None else orjson.loads(data)

    def _webhooks(self) -> list[Object]:
        assert self._shown is not None
        bundle = base64.b64encode(self._shown.authorities).decode()
        return webhooks_for(self._address.client_config(PATH, self._port, bundle))

    def _is_right(self, live: Object) -> bool:
        desired = self._webhooks()
        if (live["metadata"]["resourceVersion"], desired) == self._written:
            return True
        return bool(live.get("webhooks") == desired) and LEFT not in annotations_of(live)

    def _is_anothers(self, live: Object) -> bool:
        """Whether a replica that started after this one is called instead."""
        if not self._introduced or LEFT in annotations_of(live):
            return False
        return url_in(live) not in ("", url_in({"webhooks": self._webhooks()}))

    async def _is_answered(self, live: Object) -> bool:
        """Whether another replica is called, and runs."""
        assert self._shown is not None
        return self._is_anothers(live) and await answers(url_in(live), self._shown.authorities)

    async def _say_goodbye(self) -> None:
        try:
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await self._take_leave()
        except (CrossplyError, Conflict, TimeoutError) as problem:
            _log.info("the webhook configuration stays: %s", problem)

    async def _take_leave(self) -> None:
        """Without a Service no server answers at our address any more.

        What is in use stays protected until we are back or another replica takes over; where nothing is, the
        configuration goes.
        """
        live = self._live()
        if live is None or self._address.service is not None or self._is_anothers(live):
            return
        if len(self._usages):
            body = {"metadata": {"annotations": {LEFT: self._plane.now()}}}
            await self._plane.as_controller.patch_merge(CONFIGURATIONS, CONFIGURATION, body, manager=MANAGER)
            return
        uid, version = live["metadata"]["uid"], live["metadata"]["resourceVersion"]
        await self._plane.as_controller.delete(
            CONFIGURATIONS, CONFIGURATION, uid=uid, resource_version=version
        )


async def _wait_for_sync(cache: Informer) -> None:
    why = await cache.sync_problem()
    if why:
        raise InformerNotSynced(f"cannot follow {cache.kind.resource} for webhooks: {why}")
