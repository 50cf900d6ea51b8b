"""Health checks: /livez, /readyz and /healthz."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.status_errors import no_such_path
from crossply.apiserver.storage import Store

PATHS = ("/healthz", "/livez", "/readyz")
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
