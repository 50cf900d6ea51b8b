"""What every request must show and every answer says, so that no other page can use the dashboard.

* The Host header names loopback (or a name that was allowed): a foreign name that resolves to us is refused.
* A request that writes has our own Origin and the CSRF token of its session.
* Answers load scripts and styles from us only, run no inline ones, and are never framed.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from aiohttp import web

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
SAFE_METHODS = frozenset({"GET", "HEAD"})
CSRF_HEADER = "X-CSRF-Token"
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def check_host(host: str, allowed: frozenset[str]) -> None:
    """Refuse a Host header that is none of our names, with whatever port."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if name.lower() not in allowed:
        raise web.HTTPMisdirectedRequest(text="This host name is not one of the dashboard's.\n")


def check_same_origin(request: web.Request) -> None:
    """Refuse a write that another site, or no site, sends.

    Browsers send the Origin `null` from pages whose Referrer-Policy is no-referrer, as ours is; then what
    they say in Sec-Fetch-Site, which no script can set, must be that the page is ours.
    """
    origin, site = request.headers.get("Origin", ""), request.headers.get("Sec-Fetch-Site", "")
    is_ours = _host_of(origin) == request.host.lower() and site in ("", "same-origin")
    if not (is_ours or (origin == "null" and site == "same-origin")):
        raise web.HTTPForbidden(text="This request does not come from the dashboard.\n")


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # brackets without an address in them
        return ""


async def csrf_token(request: web.Request) -> str:
    """The CSRF token that a request carries, in a header or in its form; empty where it has none."""
    header = request.headers.get(CSRF_HEADER, "")
    if header or request.content_type != "application/x-www-form-urlencoded":
        return header
    value = (await request.post()).get("csrf", "")
    return value if isinstance(value, str) else ""


def secured(response: web.StreamResponse) -> web.StreamResponse:
    """The response with the headers that every answer has."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
