"""The web server of the dashboard: sessions, security, pages, assets and event streams put together."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace

from aiohttp import web

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.credentials import Credential, Fixed
from crossply.kube.failures import KubeError, Unauthorized, Unreachable
from crossply.ui import pages
from crossply.ui.one_time_token import TokenRedeemer
from crossply.ui.page_templates import HERE, cut, make_environment
from crossply.ui.page_types import Content, MissingRight, PageNotFound, PageRequest, Route
from crossply.ui.security import (
    LOOPBACK_NAMES,
    SAFE_METHODS,
    check_host,
    check_same_origin,
    csrf_token,
    secured,
)
from crossply.ui.session import Session, Sessions
from crossply.ui.settings import Settings
from crossply.ui.viewer_connection import Viewer

MOST_BODY = 2 * 1024 * 1024
_STOP_SECONDS = 1.0


class Dashboard:
    """One server; `application` is what aiohttp serves."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._hosts = LOOPBACK_NAMES | {name.lower() for name in settings.hosts}
        self._redeemer = TokenRedeemer(settings.key)
        self._sessions = Sessions()
        self._viewer = Viewer(settings.config, settings.metrics_socket)
        """Shared by all sessions that were opened by a one-time token."""
        self._templates = make_environment()
        self.application = self._make_application()

    def _make_application(self) -> web.Application:
        application = web.Application(middlewares=[self._guard], client_max_size=MOST_BODY)
        application.router.add_get("/login", self._login_page)
        application.router.add_post("/login", self._login)
        application.router.add_get("/live", self._live)
        application.router.add_post("/logout", self._logout)
        application.router.add_static("/assets", os.path.join(HERE, "assets"))
        for route in pages.routes():
            application.router.add_route(route.method, route.path, self._page(route))
        application.on_cleanup.append(self._close)
        return application

    async def _close(self, application: web.Application) -> None:
        await self._sessions.close()
        await self._viewer.close()

    # Every request passes here first.

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        try:
            check_host(request.host, self._hosts)
            if request.method not in SAFE_METHODS:
                check_same_origin(request)
            response = await handler(request)
        except web.HTTPNotFound as missing:
            session = self._session(request)
            if session is None or request.path.startswith("/assets/"):
                missing.headers.update(secured(web.Response()).headers)
                raise
            response = await self._not_found(request, session)
        except web.HTTPException as refused:
            refused.headers.update(secured(web.Response()).headers)
            raise
        if not response.prepared:
            if request.path.startswith("/assets/"):
                response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
            secured(response)
        return response

    def _session(self, request: web.Request) -> Session | None:
        return self._sessions.get(request.cookies.get(_cookie_name(request), ""))

    # Logging in.

    async def _login_page(self, request: web.Request) -> web.Response:
        """Redeem the one-time token of the printed address, or ask for a bearer token."""
        token = request.query.get("token", "")
        if self._session(request) is not None:
            return self._entered(request, None)
        if token and self._redeemer.redeem(token) and not self._settings.login:
            await self._viewer.open()
            return self._entered(request, await self._sessions.open(self._viewer))
        if self._settings.login:
            return self._plain("login.html", problem="")
        return self._plain("no_session.html", status=403, used=bool(token))

    async def _login(self, request: web.Request) -> web.Response:
        if not self._settings.login:
            raise web.HTTPNotFound
        token = str((await request.post()).get("token", "")).strip()
        credentials = Fixed(Credential(authorization=f"Bearer {token}"))
        viewer = Viewer(replace(self._settings.config, credentials=credentials, certificate=None, actor=None))
        await viewer.open()
        # A line break within it would begin another header.
        is_token = bool(token) and token.isascii() and token.isprintable()
        problem = await _login_problem(viewer.client) if is_token else "enter a token"
        if problem:
            await viewer.close()
            return self._plain("login.html", status=403, problem=problem)
        return self._entered(request, await self._sessions.open(viewer))

    def _entered(self, request: web.Request, session: Session | None) -> web.Response:
        """A page that leads on: a redirect that another site began would not carry a strict cookie."""
        response = self._plain("entered.html")
        if session is not None:
            response.set_cookie(_cookie_name(request), session.id, httponly=True, samesite="Strict", path="/")
        return response

    async def _logout(self, request: web.Request) -> web.Response:
        session = self._session(request)
        if session is not None and session.has_csrf(await csrf_token(request)):
            await self._sessions.end(session)
        raise web.HTTPSeeOther("/login")

    # Pages.

    def _page(self, route: Route) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            session = self._session(request)
            if session is None:
                if self._settings.login:
                    raise web.HTTPSeeOther("/login")
                return self._plain("no_session.html", status=403, used=False)
            assert isinstance(session.viewer, Viewer)
            await session.viewer.open()
            page = PageRequest(request, session, session.viewer, self._settings)
            if route.method not in SAFE_METHODS:
                await self._check_write(page, route)
            return await self._answer(page, route)

        return handle

    async def _not_found(self, request: web.Request, session: Session) -> web.Response:
        assert isinstance(session.viewer, Viewer)
        await session.viewer.open()
        page = PageRequest(request, session, session.viewer, self._settings)
        problem = PageNotFound(f"there is no page {cut(request.path, 200)}")
        return self._render(page, Content("problem.html", {"problem": problem}, "Not found", status=404))

    async def _check_write(self, page: PageRequest, route: Route) -> None:
        if not page.session.has_csrf(await csrf_token(page.http)):
            raise web.HTTPForbidden(text="The CSRF token is missing or wrong.\n")
        if route.writes and not self._settings.allow_writes:
            raise web.HTTPForbidden(text="Writes are not allowed: start with crossply ui --allow-writes.\n")

    async def _answer(self, page: PageRequest, route: Route) -> web.StreamResponse:
        try:
            answer = await route.handler(page)
        except MissingRight as missing:
            answer = Content("missing_right.html", {"missing": missing}, "Not permitted", status=403)
        except PageNotFound as missing_page:
            answer = Content("problem.html", {"problem": missing_page}, "Not found", status=404)
        except Unreachable as problem:
            answer = Content("problem.html", {"problem": problem}, "Unreachable", status=502)
        except KubeError as problem:
            answer = Content("problem.html", {"problem": problem}, "Refused", status=502)
        except CrossplyError as problem:
            answer = Content("problem.html", {"problem": problem}, "Something went wrong", status=500)
        return self._render(page, answer) if isinstance(answer, Content) else answer

    def _render(self, page: PageRequest, content: Content) -> web.Response:
        values = {
            "layout": "partial.html" if page.is_partial else "base.html",
            "title": content.title,
            "topics": ",".join(sorted(content.topics)),
            "path": page.http.path,
            "query": page.query,
            "navigation": pages.navigation(),
            "csrf": page.session.csrf,
            "allow_writes": self._settings.allow_writes,
            "cluster": page.client.config.server,
            "login": self._settings.login,
            **content.values,
        }
        text = self._templates.get_template(content.template).render(values)
        return web.Response(text=text, content_type="text/html", status=content.status)

    def _plain(self, template: str, status: int = 200, **values: object) -> web.Response:
        """A page for those who have no session."""
        text = self._templates.get_template(template).render(values)
        return web.Response(text=text, content_type="text/html", status=status)

    # Live updates.

    async def _live(self, request: web.Request) -> web.StreamResponse:
        session = self._session(request)
        if session is None:
            raise web.HTTPForbidden(text="There is no session.\n")
        assert isinstance(session.viewer, Viewer)
        await session.viewer.open()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        secured(response)
        await response.prepare(request)
        topics = [topic for topic in request.query.get("topics", "").split(",") if topic]
        stream = session.viewer.view.hub.stream(topics)
        # The browser went to another page.
        with suppress(ConnectionResetError):
            async with aclosing(stream):
                async for data in stream:
                    await response.write(data)
        return response


def _cookie_name(request: web.Request) -> str:
    """Cookies are not kept apart by port: two dashboards on one machine have different names."""
    port = request.host.rpartition(":")[2]
    return f"crossply-ui-{port if port.isdigit() else 'default'}"


async def _login_problem(client: Client) -> str:
    """Why a bearer token cannot be used; empty where it can."""
    try:
        await client.request("GET", "/api")
    except Unauthorized:
        return "the API server does not accept this token"
    except KubeError as problem:
        return str(problem)
    return ""


@asynccontextmanager
async def serve_dashboard(settings: Settings, listener: socket.socket) -> AsyncIterator[None]:
    """Serve on a socket that listens already."""
    dashboard = Dashboard(settings)
    runner = web.AppRunner(dashboard.application, access_log=None, shutdown_timeout=_STOP_SECONDS)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        yield
    finally:
        await runner.cleanup()
