"""Providers on this machine: a process or a container for each active revision, kept running.

A Provider finds what it has as a Pod: a service account with its rights, certificates, and the variables of
its environment. The endpoint of the Service of its webhooks is the port of this machine that leads to it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from crossply.compose.conditions import with_conditions
from crossply.compose.events import Event
from crossply.compose.object_metadata import name_of
from crossply.containers.log_file import LogFile, log_path
from crossply.control.controller_context import Plane
from crossply.control.runtimes.container_settings import ContainerSettings
from crossply.control.runtimes.manifest_metadata import Subject
from crossply.control.runtimes.mutual_tls_certificates import Credentials
from crossply.control.runtimes.package_runtime_choice import PROVIDER
from crossply.control.runtimes.provider_missing_rights import RightsListener
from crossply.control.runtimes.provider_network_isolation import ProviderNetwork
from crossply.control.runtimes.provider_program_selection import ProgramContext, ProviderPrograms
from crossply.control.runtimes.provider_role_binding import keep_binding
from crossply.control.runtimes.pulled_images import RevisionImages
from crossply.control.runtimes.runtime import NotRunning, Prepared
from crossply.control.runtimes.runtime_manifests import (
    account_for,
    endpoints_for,
    service_account_name,
    service_for,
    service_names,
)
from crossply.control.runtimes.runtime_object_applier import RuntimeObjects
from crossply.control.runtimes.service_account_files import CLIENT, SERVER, ProviderFiles, request_token
from crossply.control.runtimes.supervisor import Program, Supervisor
from crossply.errors import CrossplyError
from crossply.functions.host_access_policy import HostAccessRefused
from crossply.functions.local_provider_annotations import is_local_provider
from crossply.kube.core_kinds import ENDPOINTS, SERVICE, SERVICE_ACCOUNT
from crossply.kube.informer import Informer
from crossply.kube.watch import Key
from crossply.values import Object

_FIRST_SECONDS = 2.0
"""How long a program that was just started is waited for."""
_LOOPBACK = "127.0.0.1"
_LOCALHOST = "localhost"


class ProviderSettings(NamedTuple):
    """Where Providers run on this machine."""

    namespace: str = "crossplane-system"
    directory: str = ""
    """Where their private files are; empty for a temporary directory."""
    logs: str = ""
    """Where their output is kept; empty for nowhere."""
    state: str = ""
    """Where each has a directory of its own for what it wants to keep; empty for nowhere."""
    network: ProviderNetwork = ProviderNetwork()


class _Running(NamedTuple):
    """What runs one revision."""

    supervisor: Supervisor
    files: ProviderFiles
    account: str
    """The name of its service account."""
    renewal: datetime
    """When its token is to be replaced."""


class ProviderRuntime:
    """Runs the active revisions of Providers on this machine."""

    def __init__(
        self,
        plane: Plane,
        revisions: Informer,
        objects: RuntimeObjects,
        credentials: Credentials,
        configs: ContainerSettings,
        settings: ProviderSettings,
        images: RevisionImages | None,
        enqueue: Callable[[str], None],
    ) -> None:
        """Without images, only Providers that are programs of this machine run.

        `enqueue` enqueues a revision.
        """
        self._plane = plane
        self._revisions = revisions
        self._objects = objects
        self._credentials = credentials
        self._configs = configs
        self._settings = settings
        self._images = images
        self._programs = ProviderPrograms(
            plane.as_installer.config.server, images, settings.network, settings.state
        )
        self._loop = asyncio.get_running_loop()
        self._enqueue = enqueue
        self._running: dict[str, _Running] = {}
        self._stopping: set[asyncio.Task[None]] = set()
        self._place = settings.directory or tempfile.mkdtemp(prefix="crossply-providers-")
        # A control plane that was killed leaves files behind.
        shutil.rmtree(self._place, ignore_errors=True)
        os.makedirs(self._place, mode=0o700)
        revisions.subscribe(self._handle_event)

    async def prepare(self, revision: Object) -> Prepared:
        """Service and certificates, which the package's own webhooks wait for."""
        if is_local_provider(revision):
            self._check_host_access(revision)
        subject = self._subject(revision)
        service = await self._applied("service", self._objects.apply(SERVICE, service_for(subject)))
        owners = {"ownerReferences": revision["metadata"].get("ownerReferences") or []}
        server = revision["spec"].get("tlsServerSecretName") or f"{subject.package}-tls-server"
        client = revision["spec"].get("tlsClientSecretName") or f"{subject.package}-tls-client"
        names = (*service_names(service), _LOCALHOST)
        files, renewal = await self._credentials.ensure_server(server, names, owners)
        own, own_renewal = await self._credentials.ensure_client(client, (subject.name,), owners)
        running = self._running.get(name_of(revision))
        soon = datetime.now(UTC) + timedelta(seconds=1)
        renewal_time = min(renewal, own_renewal, soon if running is None else running.renewal)
        status = {"tlsServerSecretName": server, "tlsClientSecretName": client}
        if not is_local_provider(revision):
            problem = running.supervisor.program.network_problem if running is not None else ""
            condition = self._settings.network.condition(problem)
            desired = with_conditions(revision, (condition,), self._plane.now())
            status["conditions"] = desired["status"]["conditions"]
        return Prepared(status, renewal_time, files, own)

    async def run(self, revision: Object, prepared: Prepared) -> None:
        """Service account, rights and the program."""
        subject = self._subject(revision)
        account = await self._account(subject)
        await keep_binding(self._plane, revision, subject.namespace, account)
        running = self._running.get(subject.name)
        files = ProviderFiles(os.path.join(self._place, subject.name)) if running is None else running.files
        renewal = await self._write_files(account, files, prepared, running)
        context = ProgramContext(subject, files, self._configs.of(revision).settings)
        program = await self._programs.program(context)
        if running is not None and running.supervisor.program != program:
            await running.supervisor.stop()
            running = None
        self._check_still_there(subject)
        if running is None:
            running = self._started(subject, account, files, renewal, program)
        self._running[subject.name] = running._replace(renewal=renewal, account=account)
        await running.supervisor.judged(_FIRST_SECONDS)
        endpoints = endpoints_for(subject, _LOOPBACK, running.supervisor.program.webhook_port)
        await self._applied("endpoints", self._objects.apply(ENDPOINTS, endpoints))
        if running.supervisor.problem:
            raise NotRunning(f"provider is unavailable: {running.supervisor.problem}", hint=_hint(subject))

    async def stop(self, revision: Object) -> None:
        """End the program of a revision, and remove its files."""
        if self._images is not None:
            self._images.cancel(revision)
        await self._end(name_of(revision))

    async def close(self) -> None:
        """End all of them."""
        if self._images is not None:
            await self._images.close()
        await asyncio.gather(*(self._end(name) for name in list(self._running)), *self._stopping)
        shutil.rmtree(self._place, ignore_errors=True)

    def _subject(self, revision: Object) -> Subject:
        return Subject(revision, self._settings.namespace, self._configs.deployment_spec(revision))

    async def _account(self, subject: Subject) -> str:
        """The name of its service account, which is made unless the user made and named one."""
        account = account_for(subject)
        named = service_account_name(subject) or name_of(account)
        if named == name_of(account):
            await self._applied("service account", self._objects.apply(SERVICE_ACCOUNT, account))
        return named

    def _check_still_there(self, subject: Subject) -> None:
        """Raise where the revision was deleted meanwhile: nothing would ever stop what is started for it."""
        if self._revisions.get("", subject.name) is None:
            raise NotRunning(f"{subject.name} is gone", hint="")

    def _check_host_access(self, revision: Object) -> None:
        try:
            self._plane.functions.factory.check_host_access(revision)
        except HostAccessRefused as refusal:
            raise NotRunning(str(refusal), hint=refusal.hint) from None

    async def _write_files(
        self, account: str, files: ProviderFiles, prepared: Prepared, running: _Running | None
    ) -> datetime:
        """Have certificates and a token in place; returns when the token is to be replaced."""
        os.makedirs(files.directory, mode=0o755, exist_ok=True)
        files.write_certificates(SERVER, prepared.certificates)
        files.write_certificates(CLIENT, prepared.client_certificates)
        if running is not None and running.account == account and datetime.now(UTC) < running.renewal:
            return running.renewal
        client, namespace = self._plane.as_installer, self._settings.namespace
        token = await request_token(client, namespace, account)
        files.write_account(token.token, client.config.authority, namespace)
        files.write_kubeconfig(client.config.server, namespace)
        return token.renewal

    def _started(
        self, subject: Subject, account: str, files: ProviderFiles, renewal: datetime, program: Program
    ) -> _Running:
        path = log_path(self._settings.logs, PROVIDER, subject.package) if self._settings.logs else ""
        name = subject.name
        listener = RightsListener(subject, account, lambda event: self._record(subject.revision, event))
        log = LogFile(path, listener=listener)
        supervisor = Supervisor(program, log, lambda: self._enqueue(name))
        return _Running(supervisor, files, account, renewal)

    def _record(self, revision: Object, event: Event) -> None:
        """Record an event, from any thread."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._plane.recorder.record, revision, event)

    async def _applied(self, description: str, applying: Awaitable[Object]) -> Object:
        try:
            return await applying
        except CrossplyError as problem:
            raise problem.within(f"cannot apply provider package {description}") from None

    async def _end(self, name: str) -> None:
        running = self._running.pop(name, None)
        if running is not None:
            await running.supervisor.stop()
            await asyncio.to_thread(running.files.remove)

    def _handle_event(self, change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
        """A revision that is gone runs no longer."""
        if new is None and key[1] in self._running:
            task = asyncio.create_task(self._end(key[1]))
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)


def _hint(subject: Subject) -> str:
    return f"see what it wrote: crossply logs provider/{subject.package}"
