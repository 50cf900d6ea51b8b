"""One replica's runs over HTTPS, to those who may get the objects that they are of.

The server has a certificate of its own, made at each start, which is announced with its address: see
`run_server_addresses`. Runs are only read here.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import orjson
from aiohttp import web
from cryptography.x509.oid import ExtendedKeyUsageOID

from crossply.certificates import Purpose, Span, new_authority, new_certificate, subject_of
from crossply.errors import CrossplyError
from crossply.kube.tls import load_private_pem
from crossply.runs.run_server_addresses import PATH, TOKEN_HEADER
from crossply.runs.sqlite_run_store import RunStore, StoredRun
from crossply.runs.viewers import Viewer, Viewers, certificate_viewer
from crossply.values import Object

T = TypeVar("T")
_MOST = 1_000
_USUAL = 50
_PAGES = 10
_YEARS = 10


class RunServer:
    """Serves the runs of a store."""

    def __init__(self, store: RunStore, viewers: Viewers, client_authority: bytes = b"") -> None:
        """`client_authority` (PEM) has signed the client certificates that are accepted."""
        self._store = store
        self._viewers = viewers
        self._runner: web.AppRunner | None = None
        self.certificate, self._context = _tls(client_authority)

    async def start(self, host: str | None, port: int) -> int:
        """Listen; returns the port, which is a free one for port 0. Raises OSError."""
        application = web.Application()
        application.router.add_get(PATH, self._list)
        application.router.add_get(PATH + "/{id}", self._load)
        self._runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port, ssl_context=self._context).start()
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _list(self, request: web.Request) -> web.Response:
        viewer, query = await self._viewer(request), request.query
        limit = _limit(query.get("limit", ""))
        visible: list[StoredRun] = []
        before = query.get("before", "")
        for _ in range(_PAGES):
            page = await asyncio.to_thread(
                self._store.list_runs,
                query.get("kind", ""),
                query.get("namespace", ""),
                query.get("name", ""),
                uid=query.get("uid", ""),
                before=before,
                limit=limit,
            )
            visible += [run for run in page if await self._may_see(viewer, run)]
            if len(page) < limit or len(visible) >= limit:
                break
            before = page[-1].id
        runs = [summary for run in visible[:limit] if (summary := _summary(run))]
        return web.Response(body=orjson.dumps({"runs": runs}), content_type="application/json")

    async def _load(self, request: web.Request) -> web.Response:
        viewer, prefix = await self._viewer(request), request.match_info["id"]
        runs = await asyncio.to_thread(self._store.load, prefix, 20)
        exact = [run for run in runs if run.id == prefix]
        visible = [run for run in exact or runs if await self._may_see(viewer, run)]
        if not visible:
            raise web.HTTPNotFound(text="no such run")
        if len(visible) > 1:
            raise web.HTTPConflict(text=", ".join(run.id for run in visible))
        head = orjson.dumps({"repeats": visible[0].repeats})
        return web.Response(body=head + b"\n" + visible[0].data, content_type="application/octet-stream")

    async def _viewer(self, request: web.Request) -> Viewer:
        authorization = request.headers.get("Authorization", "")
        token = request.headers.get(TOKEN_HEADER, "") or authorization.removeprefix("Bearer ").strip()
        viewer = None
        if token:
            viewer = await self._from_api_server(self._viewers.authenticate(token))
        elif request.transport is not None:
            tls = request.transport.get_extra_info("ssl_object")
            viewer = certificate_viewer(tls.getpeercert()) if tls is not None else None
        if viewer is None:
            raise web.HTTPUnauthorized(text="a token or a client certificate of the cluster is needed")
        return viewer

    async def _may_see(self, viewer: Viewer, run: StoredRun) -> bool:
        return await self._from_api_server(self._viewers.may_see(viewer, run.subject))

    async def _from_api_server(self, question: Awaitable[T]) -> T:
        """The answer of the API server; without one, access is refused."""
        try:
            return await question
        except CrossplyError as problem:
            raise web.HTTPServiceUnavailable(text=f"cannot ask the API server: {problem}") from None


def _summary(run: StoredRun) -> Object | None:
    """What is listed of a run; None where it is damaged."""
    try:
        return {**orjson.loads(run.summary), "repeats": run.repeats}
    except (ValueError, TypeError):
        return None


def _limit(text: str) -> int:
    """How many runs are listed; what is no number means the usual."""
    return min(int(text), _MOST) if text.isascii() and text.isdecimal() and len(text) < 10 else _USUAL


def _tls(client_authority: bytes) -> tuple[str, ssl.SSLContext]:
    """The certificate to announce, and what connections are accepted with."""
    now = datetime.now(UTC)
    span = Span(now - timedelta(hours=1), now + timedelta(days=365 * _YEARS))
    authority = new_authority(subject_of("crossply runs"), span)
    names = ("127.0.0.1", "localhost")
    purpose = Purpose(subject_of("crossply runs"), ExtendedKeyUsageOID.SERVER_AUTH, names)
    pair = new_certificate(purpose, authority, span)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    load_private_pem(context, pair.key_pem + pair.certificate_pem)
    if client_authority:
        context.load_verify_locations(cadata=client_authority.decode())
        context.verify_mode = ssl.CERT_OPTIONAL
    return authority.certificate_pem.decode(), context
