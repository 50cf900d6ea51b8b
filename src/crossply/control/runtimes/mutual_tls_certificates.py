"""The client certificate of the control plane, and server certificates of functions.

Every replica watches the two Secrets, uses the same certificate, and renews what is due; the first to write
wins.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from cryptography import x509

from crossply.certificates import FOR_CLIENTS, FOR_SERVERS
from crossply.control.replica_shared_secret import Files, SharedSecret, selection_of
from crossply.control.runtimes.certificate_authority import (
    AUTHORITY,
    CERTIFICATE,
    KEY,
    TRUSTED,
    Authorities,
    Lifetimes,
    issued,
    purpose_for,
    read_authorities,
    renew_authority,
    renew_certificate,
    renewal_of,
    renewal_time,
)
from crossply.control.runtimes.private_files import PrivateFiles
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.core_kinds import SECRET
from crossply.kube.failures import Conflict
from crossply.kube.shared_informers import SharedInformers
from crossply.kube.workqueue import Workqueue
from crossply.values import Object

_DAY = 86_400.0
_log = logging.getLogger("crossply.runtimes")


class NoCredentials(CrossplyError):
    """The Secrets with the certificates for functions cannot be read."""

    code = "CP-871"
    hint = "grant the rights to Secrets in the namespace of the control plane"


class CredentialSettings(NamedTuple):
    """Where the Secrets are, and what the certificate is for."""

    namespace: str = "crossplane-system"
    account: str = "crossplane"
    """The service account of the control plane; part of the name in its certificate."""
    client_secret: str = "crossplane-tls-client"
    authority_secret: str = AUTHORITY
    lives: Lifetimes = Lifetimes()
    directory: str = ""
    """Where private files are for the time that we run; empty for the temporary directory."""


def _clock() -> datetime:
    return datetime.now(UTC)


class Credentials:
    """Starts before anything is called, and stops after."""

    def __init__(
        self,
        client: Client,
        settings: CredentialSettings = CredentialSettings(),  # noqa: B008 - it is immutable
        clock: Callable[[], datetime] = _clock,
    ) -> None:
        """`client` may read and write Secrets in the namespace."""
        self._client = client
        self._settings = settings
        self._clock = clock
        self._caches = SharedInformers(client)
        self._queue: Workqueue[str] = Workqueue("credentials")
        self._task: asyncio.Task[None] | None = None
        self._files = self.new_files()
        self._shown: Files = {}
        self._known_authorities: Authorities | None = None
        self._subscribers: list[Callable[[], None]] = []

    @property
    def directory(self) -> str:
        """Where ca.crt, tls.crt and tls.key for calling functions are, always the newest."""
        return self._files.directory

    def new_files(self) -> PrivateFiles:
        """A directory for private files beside our own."""
        return PrivateFiles(self._settings.directory)

    async def start(self) -> None:
        """Have a certificate, and keep it good."""
        settings = self._settings
        self._authority = await self._secret(settings.authority_secret)
        self._own = await self._secret(settings.client_secret)
        await self._renew()
        self._task = asyncio.create_task(self._queue.run(self._work, 1))

    async def stop(self) -> None:
        """Leave no file behind; the Secrets stay."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._caches.close()
        self._files.remove()

    def subscribe(self, handler: Callable[[], None]) -> None:
        """Call a handler when the trusted authorities change."""
        self._subscribers.append(handler)

    async def ensure_server(
        self, name: str, names: tuple[str, ...], metadata: Object | None = None
    ) -> tuple[Files, datetime]:
        """The certificate in a Secret for a function's server, and when to look at it again.

        `metadata` is what a Secret that is written has beside its name: its owners.
        """
        return await self._ensure(name, FOR_SERVERS, names, metadata)

    async def ensure_client(
        self, name: str, names: tuple[str, ...], metadata: Object | None = None
    ) -> tuple[Files, datetime]:
        """The same for a Provider, which is a client."""
        return await self._ensure(name, FOR_CLIENTS, names, metadata)

    def server_files(self, names: tuple[str, ...]) -> Files:
        """A certificate for a server that this process starts itself; no Secret keeps it."""
        purpose = purpose_for(FOR_SERVERS, names)
        return issued(purpose, self._authorities, self._clock(), self._settings.lives)

    @property
    def _authorities(self) -> Authorities:
        assert self._known_authorities is not None, "it was started"
        return self._known_authorities

    async def _ensure(
        self, name: str, usage: x509.ObjectIdentifier, names: tuple[str, ...], metadata: Object | None
    ) -> tuple[Files, datetime]:
        secret = SharedSecret(self._client, self._settings.namespace, name, metadata=metadata)
        purpose = purpose_for(usage, names)
        files = await secret.settle(
            lambda files: renew_certificate(
                files, purpose, self._authorities, self._clock(), self._settings.lives
            )
        )
        return files, renewal_in(files)

    async def _secret(self, name: str) -> SharedSecret:
        selection = selection_of(self._settings.namespace, name)
        cache = self._caches.acquire(SECRET, selection)
        cache.subscribe(lambda *event: self._queue.add("renew"))
        why = await cache.sync_problem()
        if why:
            raise NoCredentials(f"cannot follow the Secret {name}: {why}")
        return SharedSecret(self._client, self._settings.namespace, name, cache)

    async def _work(self, key: str) -> None:
        try:
            await self._renew()
        except (CrossplyError, Conflict) as problem:
            _log.warning("certificates for functions: %s", problem)
            self._queue.retry(key)

    async def _renew(self) -> None:
        """Load the Secrets, renew what is due, and enqueue the next renewal."""
        lives = self._settings.lives
        files = await self._authority.settle(lambda files: renew_authority(files, self._clock(), lives))
        before, self._known_authorities = self._known_authorities, read_authorities(files, self._clock())
        own = purpose_for(FOR_CLIENTS, (f"{self._settings.account}.{self._settings.namespace}",))
        shown = await self._own.settle(
            lambda files: renew_certificate(files, own, self._authorities, self._clock(), lives)
        )
        self._show(shown)
        if before is not None and before.trusted != self._authorities.trusted:
            for handler in self._subscribers:
                handler()
        renewal = min(renewal_time(self._authorities), renewal_in(shown))
        left = (renewal - self._clock()).total_seconds()
        # Clocks may jump, and machines sleep: look at it every day, which costs nothing.
        self._queue.add_after("renew", min(max(left, 0.2), _DAY))

    def _show(self, files: Files) -> None:
        shown = {name: files[name] for name in (TRUSTED, CERTIFICATE, KEY)}
        if shown != self._shown:
            self._files.replace(shown)
            self._shown = shown


def renewal_in(files: Files) -> datetime:
    """When the certificate of a Secret is due."""
    return renewal_of(x509.load_pem_x509_certificate(files[CERTIFICATE]))
