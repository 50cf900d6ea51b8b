"""A whole control plane: the kinds it needs, its controllers, and their start and stop."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from crossply.compose.messages import CAPABILITIES, REQUIRED_RESOURCES
from crossply.control.calls.feeding import feed
from crossply.control.calls.kept_answers import KeptAnswers
from crossply.control.calls.pipeline_functions import PipelineFunctions
from crossply.control.composites.selecting import Compositions
from crossply.control.controllers import Attentive, Controller, Wake
from crossply.control.definitions import standing_roles
from crossply.control.definitions.core_crds import core_crds
from crossply.control.definitions.crd_installation import install_crd
from crossply.control.definitions.definition import DefinitionController
from crossply.control.definitions.kind_roles import KindRoles
from crossply.control.definitions.offered import OfferController
from crossply.control.definitions.owned_crds import (
    BY_CLAIM_CRD,
    BY_COMPOSITE_CRD,
    BY_REQUIREMENT_CRD,
    OwnedCrds,
)
from crossply.control.definitions.pipelines import PipelineController
from crossply.control.definitions.publication import PublicationController
from crossply.control.definitions.revision import RevisionController
from crossply.control.full_server import installed
from crossply.control.kinds import (
    APPLICATION_DEFINITION,
    CLUSTER_ROLE,
    COMPOSITION,
    CRD,
    DEFINITION,
    INFRASTRUCTURE_DEFINITION,
    NAMESPACE,
    PUBLICATION,
    REVISION,
)
from crossply.control.operations.crds import operation_crds
from crossply.control.operations.following import follow_operations
from crossply.control.options import Options
from crossply.control.package_manager.fetching import Fetching
from crossply.control.package_manager.installing_work import follow_revisions
from crossply.control.package_manager.package_identity import Identities
from crossply.control.package_manager.package_work import follow_packages
from crossply.control.plane import plane_for
from crossply.control.runtimes.container_start import ImagePlace
from crossply.control.runtimes.runtimes import Runtimes
from crossply.control.start_progress import report_start, start_progress
from crossply.control.trying import tried
from crossply.control.usages.protection import Protection
from crossply.control.webhooks.address import WebhookSettings
from crossply.functions.remote import read_certificate
from crossply.kube.cache import Cache
from crossply.kube.client import Client
from crossply.kube.shared_queue import SharedQueue
from crossply.kube.shares import Alone, Shares
from crossply.values import Object

_CONCURRENCY = 4
_EVENTS_SECONDS = 5.0
"""When we stop, events that were not told by then remain untold."""
MANAGER = "crossply"
HOME = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {
        "name": "crossplane-system",
        # API servers set it. An apply without it would write the namespace once more at the next start.
        "labels": {"kubernetes.io/metadata.name": "crossplane-system"},
    },
}
"""Where Compositions of the ecosystem keep connection secrets."""
LOCAL_WEBHOOKS = WebhookSettings()
"""Webhooks without a Service in front of them, at any free port."""


class ControlPlane:
    """Everything that runs for one API server."""

    def __init__(
        self,
        client: Client,
        shares: Shares | None = None,
        webhooks: WebhookSettings | None = LOCAL_WEBHOOKS,
        options: Options = Options(),  # noqa: B008 - it is immutable
    ) -> None:
        """Without `shares` it is the only replica, and does everything; `webhooks` may be left out."""
        self._options = options
        self._plane = plane_for(client)
        self._plane.circuit, self._plane.concurrency = options.circuit, options.concurrency
        self._plane.shortest_poll, self._plane.retry = options.shortest_poll, options.retry
        self._plane.most_composed = options.most_composed
        if not options.extra_resources:
            self._plane.capabilities = tuple(each for each in CAPABILITIES if each != REQUIRED_RESOURCES)
        self._plane.functions = PipelineFunctions(options.function_seconds, options.rollout)
        self._plane.functions.opening.check_host_access = options.host_access.check
        self._plane.keeper = client.acting_as(options.keeper) if options.keeper else None
        self._shares = self._plane.shares = shares or Alone()
        self._sharing: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._protection = Protection(self._plane, webhooks)
        images = ImagePlace(options.packages, options.images)
        self._runtimes = Runtimes(self._plane, options.runtimes, options.rollout, images)
        self._plane.functions.containers.run = images.steps()

    async def start(self) -> None:
        """Install our kinds and begin to follow them."""
        report = asyncio.create_task(report_start(self.start_progress))
        try:
            await self._start()
        finally:
            report.cancel()

    def start_progress(self) -> str:
        """What the start waits for, as /readyz says it."""
        return start_progress([*self._plane.caches.running(), *self._runtimes.caches()])

    async def _start(self) -> None:
        await self._install()
        plane = self._plane
        compositions = plane.caches.acquire(COMPOSITION)
        revisions = plane.caches.acquire(REVISION)
        for cache in (compositions, revisions):
            await cache.synced.wait()
        await feed(plane.functions, plane.caches)
        # Before anything is composed: functions are called with certificates only.
        await self._runtimes.start()
        self._begin_calls(self._runtimes)
        self._follow(RevisionController(plane), compositions)
        self._follow_pipelines()
        crds = OwnedCrds(plane.caches, plane.discovery)
        roles = KindRoles(plane, plane.caches.acquire(CLUSTER_ROLE))
        choices = Compositions(compositions, revisions)
        for kind in (DEFINITION, INFRASTRUCTURE_DEFINITION, APPLICATION_DEFINITION):
            definitions = DefinitionController(plane, choices, roles, kind)
            cache = plane.caches.acquire(kind)
            wake = self._follow(definitions, cache)
            roles.wake(kind.kind, wake)
            crds.wake(kind.kind, wake)
            crds.wake_by_name(cache, BY_COMPOSITE_CRD, wake)
        offered = plane.caches.acquire(DEFINITION)
        wake = self._follow(OfferController(plane), offered)
        crds.wake(DEFINITION.kind, wake)
        crds.wake_by_name(offered, BY_CLAIM_CRD, wake)
        wake = self._follow_publications(roles)
        crds.wake(PUBLICATION.kind, wake)
        # A publication has the name of what it publishes.
        crds.wake_by_name(plane.caches.acquire(INFRASTRUCTURE_DEFINITION), BY_REQUIREMENT_CRD, wake)
        self._follow_packages()
        if self._options.operations:
            follow_operations(plane, self._follow)
        await self._protection.start()
        self._sharing = asyncio.create_task(self._shares.run())

    def _begin_calls(self, runtimes: Runtimes) -> None:
        """Say how functions are called: where, with which certificates, and within which bounds."""
        opening, settings = self._plane.functions.opening, self._options.calls
        opening.certificates = certificates = runtimes.credentials.directory
        opening.where = runtimes.addresses.where if runtimes.addresses is not None else None
        opening.at_once, opening.max_reply = settings.at_once, settings.max_reply
        if settings.kept is not None:
            kept = KeptAnswers(settings.kept, lambda: read_certificate(certificates, "tls.key"))
            self._plane.functions.answers.kept = kept
            self._tasks.append(asyncio.create_task(kept.tend()))
        if not self._options.host_access.is_nothing:
            self._tasks.append(asyncio.create_task(self._plane.functions.sources.run()))

    @property
    def is_ready(self) -> bool:
        """Whether it has started, and takes part in the work."""
        return self._sharing is not None and not self._sharing.done()

    async def ended(self) -> None:
        """Wait for what should not happen: that it takes part in the work no longer. Raises the reason."""
        assert self._sharing is not None
        await asyncio.wait({self._sharing})
        self._sharing.result()

    async def stop(self) -> None:
        """Finish what is under way, hand over the rest, and stop following; nothing is undone."""
        if self._sharing is not None:
            self._sharing.cancel()
            await asyncio.gather(self._sharing, return_exceptions=True)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._protection.stop()
        await self._runtimes.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(_EVENTS_SECONDS):
                await self._plane.recorder.settle()
        await self._plane.caches.close()
        self._plane.functions.close()

    def _follow_publications(self, roles: KindRoles) -> Wake:
        publications = self._plane.caches.acquire(PUBLICATION)
        controller = PublicationController(self._plane, roles, publications)
        wake = self._follow(controller, publications)
        roles.wake(PUBLICATION.kind, wake)

        def notice(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
            for name in controller.of_definition(key[1]):
                wake(name)

        self._plane.caches.acquire(INFRASTRUCTURE_DEFINITION).subscribe(notice)
        return wake

    def _follow_pipelines(self) -> None:
        controller = PipelineController(self._plane)
        wake = self._follow(controller, controller.revisions)

        def notice(function: str) -> None:
            for name in controller.calling(function):
                wake(name)

        self._plane.functions.subscribe(notice)

    def _follow_packages(self) -> None:
        settings = self._options.packages
        fetching = Fetching(self._plane.keeping, settings)
        follow_packages(self._plane, Identities(fetching), self._options.rollout, self._follow)
        follow_revisions(self._plane, fetching, settings.namespace, self._follow)

    async def _install(self) -> None:
        """Apply the CRDs of the kinds that make a control plane, and the namespace that they count on."""
        client = self._plane.keeping
        await asyncio.gather(
            installed(client, NAMESPACE, HOME, client.apply(NAMESPACE, HOME, MANAGER)),
            *([] if self._plane.keeper else [standing_roles.install(client, MANAGER)]),
            *(
                installed(self._plane.client, CRD, crd, install_crd(self._plane.client, client, crd, MANAGER))
                for crd in self._crds()
            ),
        )

    def _crds(self) -> list[Object]:
        return [*core_crds(), *(operation_crds() if self._options.operations else ())]

    def _follow(self, controller: Controller, cache: Cache) -> Wake:
        """Have a controller look at everything in a cache; returns how to have it look at one again."""
        name = f"{controller.name}/{cache.kind.kind.lower()}.{cache.kind.group}"
        attend = controller.attend if isinstance(controller, Attentive) else None
        queue: SharedQueue[str] = SharedQueue(
            name,
            self._shares,
            everything=lambda: [key[1] for key in list(cache.keys())],
            # One replica has all of them: there are few, and each concerns all replicas.
            owned_as=lambda _: name,
            retry=self._plane.retry,
        )
        if attend is not None:
            queue.elsewhere = tried(queue, cache.kind.kind, attend)
        cache.subscribe(lambda change, key, old, new: queue.add(key[1]))

        async def reconcile(name: str) -> None:
            again = await controller.reconcile(name)
            if again:
                queue.add_after(name, again)

        work = tried(queue, cache.kind.kind, reconcile)
        self._tasks.append(asyncio.create_task(queue.run(work, _CONCURRENCY)))
        return queue.add
