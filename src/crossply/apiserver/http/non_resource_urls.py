"""URLs that are not resources: health, version, discovery, OpenAPI, metrics, and an index page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.apiserver.endpoints.status_errors import StatusError, no_such_method, no_such_path
from crossply.apiserver.http import backup_endpoint as backup_page
from crossply.apiserver.http.health import Health
from crossply.apiserver.server_context import ServerContext
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
<meta charset="utf-8">
<title>Crossply</title>
<h1>Crossply {__version__}</h1>
<p>This is a Kubernetes API server, kept in one SQLite database. Clients of Kubernetes talk to it:</p>
<pre>kubectl --kubeconfig &lt;data directory&gt;/kubeconfig get namespaces</pre>
<p>For operators: <a href="/readyz?verbose">readyz</a>, <a href="/livez?verbose">livez</a>,
<a href="/version">version</a>, <a href="/metrics">metrics</a>.</p>
"""


class Pages:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self.health = Health(context.store)
        self.metrics: Callable[[], Reply] | None = None

    async def page(self, info: RequestInfo, query: Mapping[str, str], headers: Mapping[str, str]) -> Reply:
        path = info.path.rstrip("/") or "/"
        if info.verb not in ("get", "head"):
            raise wrong_method() if path in self._paths() else no_such_path()
        if path.split("/")[1] in ("healthz", "livez", "readyz"):
            return self.health.page(path, query)
        if path == "/version":
            return Reply(200, orjson.dumps(_VERSION))
        if path == "/":
            return self._index(headers)
        if path == "/metrics" and self.metrics is not None:
            return self.metrics()
        for prefix, make in self._context.pages.items():
            if path == prefix or path.startswith(f"{prefix}/"):
                return await make(self._context, info, headers)
        raise no_such_path()

    def _index(self, headers: Mapping[str, str]) -> Reply:
        """An HTML page for browsers, the list of paths for other clients."""
        if "text/html" in headers.get("Accept", ""):
            return Reply(200, _HELLO.encode(), "text/html; charset=utf-8")
        return Reply(200, orjson.dumps({"paths": self._paths()}))

    def _paths(self) -> list[str]:
        paths = {"/api", "/apis", "/metrics", "/openapi/v2", "/openapi/v3", "/version", backup_page.PATH}
        for resource in self._context.registry.all():
            for name, version in resource.versions.items():
                if version.served:
                    group = f"/apis/{resource.group}" if resource.group else "/api"
                    paths |= {group, f"{group}/{name}"}
        return sorted(paths | set(self.health.paths()))


def wrong_method() -> StatusError:
    return no_such_method()
