"""What a page is: routes to handlers that return a template and its values.

A module of `ui.pages` has a `ROUTES` tuple, and a `NAVIGATION` entry if the navigation is to show it:

    async def show(page: PageRequest) -> Content:
        view = page.view
        ...
        return Content("runs.html", {"runs": runs}, title="Runs", topics={"websites.example.org"})

    ROUTES = (Route("GET", "/runs", show),)
    NAVIGATION = Navigation("Runs", "/runs", 30)

A template extends `layout`, which is `base.html` for a whole page and `partial.html` where htmx asked (the
header HX-Request): the same address serves both. Whenever an object of one of its topics (resources such as
`websites.example.org`) changes, the browser asks for the page again and morphs what differs. Links and
search forms of a page that lead to the same page have the attribute `data-swap`: they change the address and
morph, too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from aiohttp import web

from crossply.errors import CrossplyError

if TYPE_CHECKING:
    from crossply.kube.client import Client
    from crossply.ui.cluster_view import ClusterView
    from crossply.ui.session import Session
    from crossply.ui.settings import Settings
    from crossply.ui.viewer_connection import Viewer


class MissingRight(CrossplyError):
    """The viewer of the dashboard may not read what a page shows."""

    code = "CP-895"
    hint = "ask for the right, or open the dashboard with another kubeconfig or token"

    def __init__(self, verb: str, resource: str, namespace: str = "") -> None:
        place = f" in the namespace {namespace}" if namespace else ""
        super().__init__(f"you may not {verb} {resource}{place}")
        self.verb, self.resource, self.namespace = verb, resource, namespace


class PageNotFound(CrossplyError):
    """The dashboard has no page at an address, or the object of the page does not exist."""

    code = "CP-896"


@dataclass(frozen=True, slots=True)
class Content:
    """What a handler answers: a template with its values."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    topics: Collection[str] = ()
    """Resources whose changes make the browser ask again; `*` is everything that is watched."""
    status: int = 200


class PageRequest(NamedTuple):
    """One request of one viewer."""

    http: web.Request
    session: Session
    viewer: Viewer
    settings: Settings

    @property
    def view(self) -> ClusterView:
        return self.viewer.view

    @property
    def client(self) -> Client:
        """With the rights of the viewer."""
        return self.viewer.client

    @property
    def query(self) -> Mapping[str, str]:
        return self.http.query

    @property
    def match(self) -> Mapping[str, str]:
        """The variable parts of the address."""
        return self.http.match_info

    @property
    def is_partial(self) -> bool:
        """Whether htmx asks for a part of the page."""
        return self.http.headers.get("HX-Request") == "true"

    @property
    def target(self) -> str:
        """The id of the element that htmx fills."""
        return self.http.headers.get("HX-Target", "")


Handler = Callable[[PageRequest], Awaitable[Content | web.StreamResponse]]


class Route(NamedTuple):
    """A POST route is refused unless writes are allowed and the CSRF token is right, before its handler runs.

    `writes` is False for a POST that changes nothing, as the playground does; it needs only the token.
    """

    method: str
    path: str
    handler: Handler
    writes: bool = True


class Navigation(NamedTuple):
    """An entry of the navigation; entries are sorted by `order`."""

    label: str
    path: str
    order: int
