"""URLs that are not resources: health, version, discovery, OpenAPI, metrics, and an index page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.request_info import RequestInfo
from crossply.apiserver.endpoints.status_errors import StatusError, no_such_method, no_such_path
from crossply.apiserver.http import backup_endpoint
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Store
from crossply.version import __version__

HEALTH_PATHS = ("/healthz", "/livez", "/readyz")
_TEXT = "text/plain; charset=utf-8"

Check = Callable[[], bool]


class Health:
    def __init__(self, store: Store) -> None:
        self.stopping = False
        ping: dict[str, Check] = {"ping": lambda: True}
        self._checks: dict[str, dict[str, Check]] = {
            "livez": ping,
            "healthz": {**ping, "storage": lambda: store.serving},
            "readyz": {
                **ping,
                "storage": lambda: store.serving,
                "shutdown": lambda: not self.stopping,
            },
        }

    def paths(self) -> list[str]:
        return [
            path
            for name, checks in self._checks.items()
            for path in (f"/{name}", *(f"/{name}/{check}" for check in checks))
        ]

    def page(self, path: str, query: Mapping[str, str]) -> Reply:
        name, _, only = path.strip("/").partition("/")
        checks = self._checks[name]
        if only:
            if only not in checks:
                raise no_such_path()
            return Reply(200, b"ok", _TEXT) if checks[only]() else Reply(500, b"not ok\n", _TEXT)
        excluded = query.get("exclude", "").split(",")
        return _report(name, {key: check() for key, check in checks.items() if key not in excluded}, query)


def _report(name: str, results: Mapping[str, bool], query: Mapping[str, str]) -> Reply:
    passed = all(results.values())
    if passed and "verbose" not in query:
        return Reply(200, b"ok", _TEXT)
    lines = [f"[+]{key} ok" if ok else f"[-]{key} failed: reason withheld" for key, ok in results.items()]
    lines.append(f"{name} check {'passed' if passed else 'failed'}")
    return Reply(200 if passed else 500, ("\n".join(lines) + "\n").encode(), _TEXT)


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
        paths = {"/api", "/apis", "/metrics", "/openapi/v2", "/openapi/v3", "/version", backup_endpoint.PATH}
        for resource in self._context.registry.all():
            for name, version in resource.versions.items():
                if version.served:
                    group = f"/apis/{resource.group}" if resource.group else "/api"
                    paths |= {group, f"{group}/{name}"}
        return sorted(paths | set(self.health.paths()))


def wrong_method() -> StatusError:
    return no_such_method()
