"""A whole control plane: the kinds it needs, its controllers, and their start and stop.

A start waits for rights rather than failing: they may be granted after it. Until then /readyz and the log say
which kinds cannot be listed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from crossply.compose.function_messages import CAPABILITIES, REQUIRED_RESOURCES
from crossply.control.calls.pipeline_function_calls import PipelineFunctions, watch_functions
from crossply.control.calls.pipeline_inspector import PipelineInspector
from crossply.control.calls.response_cache import ResponseCache
from crossply.control.calls.response_store import ResponseStore
from crossply.control.calls.runner_factory import RunnerFactory
from crossply.control.controller_context import plane_for
from crossply.control.definitions import standing_roles
from crossply.control.definitions.controllers import definition_controllers
from crossply.control.definitions.core_crd_installation import install_crd, install_or_keep
from crossply.control.definitions.core_crds import core_crds
from crossply.control.definitions.definition_indexes import CRD_METADATA
from crossply.control.kinds import COMPOSITION, REVISION
from crossply.control.managed_definitions.activation_policy_reconciler import install_default_policy
from crossply.control.managed_definitions.controllers import managed_definition_controllers
from crossply.control.operations.controllers import operation_controllers
from crossply.control.operations.operation_crds import operation_crds
from crossply.control.options import Options
from crossply.control.package_manager.controllers import package_controllers, revision_controllers
from crossply.control.package_manager.directory_package import DirectoryPackages
from crossply.control.package_manager.fetch_watches import FetchWatches
from crossply.control.package_manager.package_fetcher import PackageFetcher
from crossply.control.package_manager.package_image_resolution import Identities
from crossply.control.rbac_grant_commands import explained
from crossply.control.recorded_run_service import RunService
from crossply.control.runtimes.container_runtime_assembly import ImageSettings
from crossply.control.runtimes.runtime_set import Runtimes
from crossply.control.webhooks.usage_protection_assembly import UsageProtection
from crossply.control.webhooks.webhook_address import WebhookSettings
from crossply.functions.remote import read_certificate
from crossply.kube.client import Client
from crossply.kube.controller import Controller
from crossply.kube.core_kinds import CRD, NAMESPACE
from crossply.kube.informer import Informer
from crossply.kube.sharding import ShardOwner, SingleReplica
from crossply.runs.recorder import open_recorder
from crossply.values import Object

_EVENTS_SECONDS = 5.0
"""How long a stop waits for events that are not written yet."""
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
_STARTING = "starting"
_REPORT_SECONDS = (5.0, 60.0)
"""Pauses before the first report in the log and between the others."""
_log = logging.getLogger("crossply.control")


class ControlPlane:
    """Everything that runs for one API server."""

    def __init__(
        self,
        client: Client,
        shards: ShardOwner | None = None,
        webhooks: WebhookSettings | None = LOCAL_WEBHOOKS,
        options: Options = Options(),  # noqa: B008 - it is immutable
    ) -> None:
        """Without `shards` it is the only replica, and does everything; `webhooks` may be left out."""
        self._options = options
        images = ImageSettings(options.packages, options.images)
        self._responses = self._response_store()
        self._plane = replace(
            plane_for(client, self._functions(images)),
            shards=shards or SingleReplica(),
            as_installer=client.acting_as(options.keeper) if options.keeper else client,
            capabilities=_capabilities(options),
            circuit=options.circuit,
            concurrency=options.concurrency,
            most_composed=options.most_composed,
            retry=options.retry,
            shortest_poll=options.shortest_poll,
            runs=open_recorder(options.runs),
            inspector=PipelineInspector(options.inspector_socket) if options.inspector_socket else None,
        )
        self._membership: asyncio.Task[None] | None = None
        self._controllers: list[Controller] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._protection = UsageProtection(self._plane, webhooks)
        self._run_service = RunService(self._plane, options.run_serving)
        self._runtimes = Runtimes(self._plane, options.runtimes, options.rollout, images)

    async def start(self) -> None:
        """Install the kinds of a control plane, and start its controllers."""
        report = asyncio.create_task(_report_start(self.start_progress))
        try:
            await self._start()
        finally:
            report.cancel()

    def start_progress(self) -> str:
        """What the start waits for, as /readyz says it."""
        return _start_progress([*self._plane.informers.running(), *self._runtimes.informers()])

    async def _start(self) -> None:
        await self._install()
        plane = self._plane
        for kind in (COMPOSITION, REVISION):
            await plane.informers.acquire(kind).synced.wait()
        await install_default_policy(plane, self._options.activation)
        await watch_functions(plane.functions, plane.informers)
        # Before anything is composed: functions are called with certificates only.
        await self._runtimes.start()
        self._begin_calls(self._runtimes)
        plane.informers.acquire(CRD, CRD_METADATA).subscribe(lambda *_: plane.discovery.doubt())
        for controller in self._declare_controllers():
            self._controllers.append(controller)
            controller.start()
        await self._protection.start()
        await self._run_service.start()
        self._membership = asyncio.create_task(self._plane.shards.run())

    def _begin_calls(self, runtimes: Runtimes) -> None:
        resolve = runtimes.addresses.where if runtimes.addresses is not None else None
        self._plane.functions.factory.use_certificates(runtimes.credentials.directory, resolve)
        if self._responses is not None:
            self._tasks.append(asyncio.create_task(self._responses.run()))
        if not self._options.host_access.is_nothing:
            self._tasks.append(asyncio.create_task(self._plane.functions.sources.run()))

    def _functions(self, images: ImageSettings) -> PipelineFunctions:
        options = self._options
        cache, containers = ResponseCache(self._responses), images.container_functions()
        factory = RunnerFactory(options.calls, options.host_access.check, cache, containers.open)
        return PipelineFunctions(options.function_seconds, options.rollout, factory)

    def _response_store(self) -> ResponseStore | None:
        settings = self._options.calls.store
        if settings is None:
            return None
        return ResponseStore(
            settings, lambda: read_certificate(self._runtimes.credentials.directory, "tls.key")
        )

    @property
    def is_ready(self) -> bool:
        """Whether it has started, and owns shards or waits for some."""
        return self._membership is not None and not self._membership.done()

    async def wait_stopped(self) -> None:
        """Wait until this replica takes part no longer, which should not happen. Raises the reason."""
        assert self._membership is not None
        await asyncio.wait({self._membership})
        self._membership.result()

    async def stop(self) -> None:
        """Finish what is running, hand over the shards, and stop; nothing is undone."""
        if self._membership is not None:
            self._membership.cancel()
            await asyncio.gather(self._membership, return_exceptions=True)
        await asyncio.gather(*(controller.stop() for controller in self._controllers))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._protection.stop()
        await self._run_service.stop()
        await self._runtimes.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(_EVENTS_SECONDS):
                await self._plane.recorder.settle()
        await self._plane.informers.close()
        self._plane.functions.close()
        if self._plane.runs is not None:
            await asyncio.to_thread(self._plane.runs.stop)
        if self._plane.inspector is not None:
            await asyncio.to_thread(self._plane.inspector.stop)

    def _declare_controllers(self) -> list[Controller]:
        plane, packages = self._plane, self._options.packages
        fetching = PackageFetcher(plane.as_installer, packages)
        directories = DirectoryPackages(self._options.host_access.check)
        identities = Identities(fetching, directories=directories)
        fetch_watches = FetchWatches(self._runtimes.caches, packages, fetching.secret_reads)
        return [
            *definition_controllers(plane),
            *managed_definition_controllers(plane),
            *package_controllers(plane, identities, fetch_watches, self._options.rollout),
            *revision_controllers(
                plane, fetching, fetch_watches, packages.namespace, self._options.converts_crds
            ),
            *(operation_controllers(plane) if self._options.operations else ()),
        ]

    async def _install(self) -> None:
        """Apply the CRDs of the kinds that make a control plane, and the namespace that they count on."""
        client = self._plane.as_installer
        await asyncio.gather(
            install_or_keep(client, NAMESPACE, HOME, client.apply(NAMESPACE, HOME, MANAGER)),
            *([] if self._options.keeper else [standing_roles.install(client, MANAGER)]),
            *(
                install_or_keep(
                    self._plane.as_controller,
                    CRD,
                    crd,
                    install_crd(self._plane.as_controller, client, crd, MANAGER),
                )
                for crd in self._crds()
            ),
        )

    def _crds(self) -> list[Object]:
        return [*core_crds(), *(operation_crds() if self._options.operations else ())]


def _capabilities(options: Options) -> tuple[int, ...]:
    offered = set(CAPABILITIES) - (set() if options.extra_resources else {REQUIRED_RESOURCES})
    return tuple(capability for capability in CAPABILITIES if capability in offered)


def _start_progress(caches: Iterable[Informer]) -> str:
    """What a start waits for, for /readyz and the log: each kind that cannot be listed, and why."""
    reasons = [
        f"cannot list {cache.kind.resource}: {explained(str(cache.trouble), cache.trouble)}"
        for cache in caches
        if cache.trouble is not None and not cache.synced.is_set()
    ]
    return "\n".join([_STARTING, *sorted(reasons)])


async def _report_start(progress: Callable[[], str]) -> None:
    """Log why the start does not go on, until cancelled."""
    first, others = _REPORT_SECONDS
    await asyncio.sleep(first)
    while True:
        text = progress()
        if text != _STARTING:
            _log.error("the control plane does not start: %s", text.partition("\n")[2])
        await asyncio.sleep(others)
