"""Putting a server together: storage, kinds, doors, controllers, and the socket in front."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from dataclasses import dataclass

from crossply.apiserver import builtin
from crossply.apiserver.auth.account_tokens import AccountTokens
from crossply.apiserver.auth.aggregation import AggregationController, writing_to
from crossply.apiserver.auth.authentication import Authenticator
from crossply.apiserver.auth.bootstrap import ensure_policy
from crossply.apiserver.auth.escalation import check_write
from crossply.apiserver.auth.jwt import SigningKey
from crossply.apiserver.auth.rbac.authorizer import Authorizer
from crossply.apiserver.auth.reviews import Reviews
from crossply.apiserver.auth.static_tokens import StaticTokens, read_token_file
from crossply.apiserver.auth.token_requests import TokenRequests
from crossply.apiserver.calls import Call
from crossply.apiserver.controllers.running import Controllers
from crossply.apiserver.custom.definitions import DEFINITIONS, Definitions
from crossply.apiserver.discovery import Discovery
from crossply.apiserver.gate import Gate
from crossply.apiserver.handlers import register
from crossply.apiserver.openapi.pages import OpenApi
from crossply.apiserver.resources import Registry
from crossply.apiserver.server import ApiServer
from crossply.apiserver.storage import Store
from crossply.apiserver.tls import Certificates, ensure_certificates, server_ssl_context, write_kubeconfig
from crossply.apiserver.tls.files import read, write_private
from crossply.apiserver.world import Guard, World, now
from crossply.values import Object


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run a server."""

    directory: str
    """Where certificates, tokens and, unless in memory, the database are kept."""
    host: str = "127.0.0.1"
    port: int = 0
    in_memory: bool = False
    names: tuple[str, ...] = ()
    """Further names and addresses that clients may use."""
    token_file: str = ""


class RunningServer:
    """A server that answers, until it is stopped."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = contextlib.AsyncExitStack()
        self.certificates = Certificates(os.path.join(settings.directory, "pki"))
        self.kubeconfig = os.path.join(settings.directory, "kubeconfig")
        self.token = ""
        self.url = ""

    async def start(self) -> None:
        """Open the store, begin to serve, and write a kubeconfig."""
        settings = self._settings
        os.makedirs(settings.directory, mode=0o700, exist_ok=True)
        self.certificates = await asyncio.to_thread(
            ensure_certificates, self.certificates.directory, settings.names
        )
        path = None if settings.in_memory else os.path.join(settings.directory, "data")
        store = await Store.open(path)
        self._stack.push_async_callback(store.close)
        self.token = _admin_token(settings.directory)
        world = await self._world(store)
        server = ApiServer(world, await self._doors(world))
        context = server_ssl_context(self.certificates)
        port = await server.start(settings.host, settings.port, context)
        self._stack.push_async_callback(server.stop)
        self.url = f"https://{_reachable(settings.host)}:{port}"
        write_kubeconfig(self.kubeconfig, self.url, self.certificates, self.token)

    async def stop(self) -> None:
        """Stop in the opposite order: no new requests, then controllers, then the store."""
        await self._stack.aclose()

    async def _world(self, store: Store) -> World:
        registry = Registry()
        for resource in builtin.resources():
            registry.put(resource)
        world = World(store, registry)
        for prefix in ("/api", "/apis"):
            world.pages[prefix] = Discovery(registry).page
        for prefix in ("/openapi/v2", "/openapi/v3"):
            world.pages[prefix] = OpenApi(registry).page
        definitions = Definitions()
        world.after_write[DEFINITIONS] = definitions.settle
        world.guards.append(_refusing_terminating(definitions))
        definitions.start(world)
        self._stack.push_async_callback(definitions.stop)
        controllers = Controllers(world, root_ca=read(self.certificates.authority).decode())
        await controllers.start()
        self._stack.push_async_callback(controllers.stop)
        return world

    async def _doors(self, world: World) -> Gate:
        """Authentication and authorization, and what is answered from them."""
        store = world.store
        await ensure_policy(store, now())
        users = read_token_file(self._settings.token_file) if self._settings.token_file else {}
        static = StaticTokens(users)
        static.add_administrator(self.token)
        accounts = AccountTokens(store, SigningKey(read(self.certificates.accounts_key)), world.clock)
        authenticator = Authenticator(world.clock, static, accounts)
        authorizer = Authorizer.following(store)
        register(
            world,
            Reviews(authenticator, authorizer, world.clock),
            TokenRequests(store, accounts, world.clock),
        )
        world.guards.append(lambda call, obj, old: check_write(authorizer, call.user, call.info, obj, old))
        aggregation = asyncio.create_task(AggregationController(store, writing_to(store, world.clock)).run())
        self._stack.push_async_callback(_cancelled, aggregation)
        return Gate(authenticator, authorizer)


def _refusing_terminating(definitions: Definitions) -> Guard:
    def guard(call: Call, obj: Object, old: Object | None) -> None:
        if old is None:
            definitions.refuse_while_terminating(call.resource, obj["metadata"].get("name", ""))

    return guard


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _admin_token(directory: str) -> str:
    """The administrator's token, made once."""
    path = os.path.join(directory, "admin.token")
    if not os.path.exists(path):
        write_private(path, secrets.token_urlsafe(32).encode())
    return read(path).decode().strip()


def _reachable(host: str) -> str:
    if host in ("0.0.0.0", "::", ""):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
