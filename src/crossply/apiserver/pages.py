"""Paths that are not about objects: health, version, discovery, OpenAPI, metrics, and a page for people."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from crossply.apiserver.replies import Reply
from crossply.apiserver.requests import RequestInfo
from crossply.apiserver.status import no_such_path
from crossply.apiserver.world import World
from crossply.version import __version__

_VERSION = {
    "major": "1",
    "minor": "36",
    "gitVersion": f"v1.36.3+crossply-{__version__}",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}
_HELLO = f"""<!doctype html>
<title>Crossply</title>
<h1>Crossply {__version__}</h1>
<p>This is a Kubernetes API server. Talk to it with <code>kubectl --kubeconfig ...</code>.</p>
"""


async def page(world: World, info: RequestInfo, headers: Mapping[str, str]) -> Reply:
    """The answer to a path that names no object."""
    if info.verb not in ("get", "head"):
        raise no_such_path()
    path = info.path.rstrip("/") or "/"
    if path in ("/healthz", "/livez", "/readyz") or path.startswith(("/livez/", "/readyz/", "/healthz/")):
        return Reply(200, b"ok", "text/plain; charset=utf-8")
    if path == "/version":
        return Reply(200, orjson.dumps(_VERSION))
    if path == "/" and "text/html" in headers.get("Accept", ""):
        return Reply(200, _HELLO.encode(), "text/html; charset=utf-8")
    for prefix, make in world.pages.items():
        if path == prefix or path.startswith(f"{prefix}/"):
            return await make(world, info, headers)
    raise no_such_path()
