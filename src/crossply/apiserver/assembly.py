"""Assembles the server: storage, resources, auth, admission, controllers and the listening socket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import ssl
import stat
from dataclasses import dataclass, field

from crossply.apiserver import builtin
from crossply.apiserver.admission.chain import Admission
from crossply.apiserver.apiextensions.crd_controller import DEFINITIONS, Definitions
from crossply.apiserver.apiextensions.crd_finalizer import delete_definition
from crossply.apiserver.apiextensions.webhook_converter import WebhookConverter
from crossply.apiserver.audit import AuditLog, Level
from crossply.apiserver.audit.request_record import AuditRecorder
from crossply.apiserver.auth.authentication import Authenticator
from crossply.apiserver.auth.bootstrap_reconciliation import ensure_policy
from crossply.apiserver.auth.cluster_role_aggregation import AggregationController, store_writer
from crossply.apiserver.auth.escalation import check_write
from crossply.apiserver.auth.openid_discovery import OpenIdPages
from crossply.apiserver.auth.rbac.authorizer import Authorizer
from crossply.apiserver.auth.request_filter import AuthFilter
from crossply.apiserver.auth.reviews import Reviews
from crossply.apiserver.auth.service_account_tokens import AccountTokens
from crossply.apiserver.auth.static_tokens import StaticTokens, read_token_file
from crossply.apiserver.auth.token_requests import TokenRequests
from crossply.apiserver.auth.token_signing import SigningKey
from crossply.apiserver.controllers.kubernetes_service import keep_service
from crossply.apiserver.controllers.startup import Controllers
from crossply.apiserver.discovery import Discovery
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.http.backup_endpoint import Backups, remove_unsent
from crossply.apiserver.http.limits import Limits, raise_file_limit
from crossply.apiserver.http.server import ApiServer
from crossply.apiserver.metrics import Sources, metrics_page
from crossply.apiserver.openapi.pages import OpenApi
from crossply.apiserver.served_groups import GroupIndex
from crossply.apiserver.served_resources import Registry
from crossply.apiserver.server_context import Guard, ServerContext, now
from crossply.apiserver.storage import PLAIN, StorageFailed, StorageFull, Store, ValueCodec
from crossply.apiserver.storage.data_directory import DirectoryLock
from crossply.apiserver.tls import (
    CertificateError,
    Certificates,
    ensure_certificates,
    reload_server_certificate,
    server_ssl_context,
    write_kubeconfig,
)
from crossply.apiserver.tls.certificate_files import read, remove_unfinished, write_private
from crossply.apiserver.verbs.virtual_resources import register
from crossply.apiserver.webhooks.service_resolution import stored_services
from crossply.errors import CrossplyError
from crossply.values import Object

_log = logging.getLogger("crossply.apiserver")
_ANY_ADDRESS = ("0.0.0.0", "::", "")
_SERVICE_WAIT_SECONDS = 0.3
_CERTIFICATE_CHECK_SECONDS = 12 * 3600.0


@dataclass(frozen=True, slots=True)
class Settings:
    directory: str
    """Where certificates, tokens and, unless in memory, the database are stored."""
    host: str = "127.0.0.1"
    port: int = 0
    in_memory: bool = False
    names: tuple[str, ...] = ()
    """Further names and addresses that clients use."""
    token_file: str = ""
    audit_log: str = ""
    """The file for audit events; empty for none."""
    audit_level: Level = Level.METADATA
    limits: Limits = field(default_factory=Limits)
    collect_garbage: bool = True
    """Whether the garbage collector runs."""
    codec: ValueCodec = PLAIN
    """How objects are stored: as plain text, or encrypted."""


class ListenFailed(CrossplyError):
    """The server cannot listen on the requested address."""

    code = "CP-650"
    hint = "choose another address with --listen; port 0 takes a free one"


class UntrustedToken(CrossplyError):
    """The administrator's token may be known to others."""

    code = "CP-639"
    hint = "delete the file: the next start creates a new token"


class RunningServer:
    """A server, from `start` to `stop`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = contextlib.AsyncExitStack()
        self._data = os.path.join(settings.directory, "data")
        self.certificates = Certificates(os.path.join(settings.directory, "pki"))
        self.kubeconfig = os.path.join(settings.directory, "kubeconfig")
        self.store: Store | None = None
        self.token = ""
        self.url = ""

    async def start(self) -> None:
        """Open the store, listen, and write a kubeconfig."""
        settings = self._settings
        raise_file_limit()
        _make_directory(settings.directory)
        # Locked first, so that a second process changes nothing that the first one uses.
        lock = DirectoryLock(settings.directory)
        self._stack.callback(lock.release)
        store = await Store.open(None if settings.in_memory else self._data, codec=settings.codec)
        self.store = store
        _remove_leftovers(settings.directory, self.certificates.directory)
        self._stack.push_async_callback(store.close)
        self.certificates = await asyncio.to_thread(
            ensure_certificates, self.certificates.directory, self._names()
        )
        self.token = _admin_token(settings.directory)
        log = AuditLog(settings.audit_log, settings.audit_level) if settings.audit_log else None
        if log is not None:
            self._stack.push_async_callback(asyncio.to_thread, log.close)
        context = await self._build_context(store)
        backups = Backups(store, settings.directory)
        server = ApiServer(
            context, await self._build_auth_filter(context), backups, AuditRecorder(log), settings.limits
        )
        self._add_metrics_page(server, store, log)
        port = await self._listen(server)
        await self._publish_service(context, port)
        self._write_kubeconfig()

    def _write_kubeconfig(self) -> None:
        try:
            write_kubeconfig(self.kubeconfig, self.url, self.certificates, self.token)
        except CertificateError as problem:
            # On a full disk an older kubeconfig stays. Clients with a credential and the address still work.
            if not os.path.exists(self.kubeconfig):
                raise
            _log.warning("%s; the server is at %s", problem, self.url)

    async def _listen(self, server: ApiServer) -> int:
        settings = self._settings
        ssl_context = server_ssl_context(self.certificates)
        try:
            port = await server.start(settings.host, settings.port, ssl_context)
        except OSError as problem:
            raise ListenFailed(
                f"cannot listen on {settings.host}:{settings.port}: {problem.strerror or problem}"
            ) from None
        self._stack.push_async_callback(server.stop)
        renewing = asyncio.create_task(self._renew_certificates(ssl_context))
        self._stack.push_async_callback(_cancel, renewing)
        self.url = f"https://{_client_host(settings.host)}:{port}"
        return port

    async def _publish_service(self, context: ServerContext, port: int) -> None:
        """Publish the `kubernetes` Service; a webhook that refuses it does not delay the start for long."""
        task = asyncio.create_task(keep_service(context, self._settings.host, port))
        self._stack.push_async_callback(_cancel, task)
        await asyncio.wait([task], timeout=_SERVICE_WAIT_SECONDS)

    def _add_metrics_page(self, server: ApiServer, store: Store, log: AuditLog | None) -> None:
        database = "" if self._settings.in_memory else os.path.join(self._data, "crossply.db")
        sources = Sources(server.metrics, store, server.connections, log, database)
        server.pages.metrics = lambda: metrics_page(sources)

    async def _renew_certificates(self, ssl_context: ssl.SSLContext) -> None:
        """Renew certificates that are about to expire, for servers that run for years."""
        while True:
            await asyncio.sleep(_CERTIFICATE_CHECK_SECONDS)
            await asyncio.to_thread(ensure_certificates, self.certificates.directory, self._names())
            reload_server_certificate(ssl_context, self.certificates)

    def _names(self) -> tuple[str, ...]:
        host = self._settings.host
        return self._settings.names if host in _ANY_ADDRESS else (*self._settings.names, host)

    async def stop(self) -> None:
        """Stop in reverse order: no new requests, then controllers, then the store."""
        await self._stack.aclose()

    async def _build_context(self, store: Store) -> ServerContext:
        registry = Registry()
        for resource in builtin.resources():
            registry.put(resource)
        context = ServerContext(store, registry)
        self._stack.callback(context.background.close)
        index = GroupIndex(registry)
        context.pages["/api"] = context.pages["/apis"] = Discovery(index).page
        openapi = OpenApi(index, context.background)
        context.pages["/openapi/v2"] = context.pages["/openapi/v3"] = openapi.page
        converter = WebhookConverter(stored_services(store))
        context.convert_by_webhook = converter
        self._stack.push_async_callback(converter.close)
        definitions = Definitions()
        context.after_write[DEFINITIONS] = definitions.settle
        context.deleters[DEFINITIONS] = delete_definition
        context.guards.append(_terminating_guard(definitions))
        definitions.start(context)
        self._stack.push_async_callback(definitions.stop)
        controllers = Controllers(
            context,
            root_ca=read(self.certificates.authority).decode(),
            collect_garbage=self._settings.collect_garbage,
        )
        await controllers.start()
        self._stack.push_async_callback(controllers.stop)
        return context

    async def _build_auth_filter(self, context: ServerContext) -> AuthFilter:
        """Authentication and authorization, and the endpoints that depend on them."""
        store = context.store
        try:
            await ensure_policy(store, now())
        except StorageFull as problem:
            _log.warning("the default roles cannot be brought up to date: %s", problem)
        users = read_token_file(self._settings.token_file) if self._settings.token_file else {}
        static = StaticTokens(users)
        static.add_administrator(self.token)
        key = SigningKey(read(self.certificates.accounts_key))
        accounts = AccountTokens(store, key, context.clock)
        openid = OpenIdPages(accounts.issuer, key, lambda: self.url)
        context.pages[openid.CONFIGURATION] = context.pages[openid.KEYS] = openid.page
        authenticator = Authenticator(context.clock, static, accounts)
        authorizer = Authorizer.watching(store)
        register(
            context,
            Reviews(authenticator, authorizer, context.clock),
            TokenRequests(store, accounts, context.clock),
        )
        context.authorize = authorizer.require
        context.guards.append(lambda call, obj, old: check_write(authorizer, call.user, call.info, obj, old))
        admission = Admission(context, authorizer.authorize)
        context.admission = admission
        self._stack.push_async_callback(admission.close)
        aggregation = asyncio.create_task(
            AggregationController(store, store_writer(store, context.clock)).run()
        )
        self._stack.push_async_callback(_cancel, aggregation)
        return AuthFilter(authenticator, authorizer)


def _terminating_guard(definitions: Definitions) -> Guard:
    def guard(call: Call, obj: Object, old: Object | None) -> None:
        if old is None:
            definitions.refuse_while_terminating(call.resource, obj["metadata"].get("name", ""))

    return guard


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _remove_leftovers(directory: str, certificates: str) -> None:
    """Remove unfinished files of a server that was killed: database copies, keys, tokens."""
    remove_unsent(directory)
    for place in (directory, certificates):
        remove_unfinished(place)


def _admin_token(directory: str) -> str:
    """The administrator's token, created at the first start."""
    path = os.path.join(directory, "admin.token")
    if not os.path.exists(path):
        write_private(path, secrets.token_urlsafe(32).encode())
    _check_private(path)
    try:
        return read(path).decode("ascii").strip()
    except UnicodeDecodeError:
        raise UntrustedToken(f"{path} does not hold a token") from None


def _check_private(path: str) -> None:
    """Refuse a token file that belongs to another user, or that others can read."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise UntrustedToken(f"{path} is not a file that belongs to you and that you alone can read")


def _make_directory(directory: str) -> None:
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
    except OSError as problem:
        raise StorageFailed(f"cannot make {directory}: {problem.strerror}", place=directory) from None


def _client_host(host: str) -> str:
    if host in _ANY_ADDRESS:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
