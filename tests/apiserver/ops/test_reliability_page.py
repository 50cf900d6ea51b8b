"""The page of promises names tests that exist."""

from __future__ import annotations

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reliability.md").read_text()
SERVER_PROMISES = [
    "crash-ack",
    "power-loss",
    "disk-full",
    "db-corrupt",
    "wal-lost",
    "backup-live",
    "upgrade-down",
    "clock-skew",
    "rv-monotone",
    "linearizable",
    "watch-gap",
    "watch-410",
    "watch-bookmark",
    "list-consistent",
    "slow-watcher",
    "huge-object",
    "malformed-http",
    "panic-schema",
    "api-restart",
    "api-authn",
    "api-authz-watch",
    "secret-logs",
    "secret-at-rest",
    "webhook-ssrf",
    "fd-exhaust",
    "log-flood",
    "leader",
    "graceful",
    "oom",
]


def test_every_promise_about_the_server_is_on_the_page() -> None:
    told = [name for name in re.findall(r"^\| ([a-z0-9-]+) \|", PAGE, re.M) if name != "id"]
    assert [promise for promise in SERVER_PROMISES if promise not in told] == []
    assert len(told) == len(set(told))


def test_every_test_on_the_page_exists() -> None:
    named = re.findall(r"`((?:tests/)?[\w/]+(?:\.py)?(?:::\w+)?)`", PAGE)
    places = [name for name in named if "test_" in name or name.startswith("tests/")]
    assert len(places) > 40
    assert [place for place in places if not _exists(place)] == []


def _exists(place: str) -> bool:
    file, _, name = place.partition("::")
    path = ROOT / file if file.startswith("tests/") else ROOT / "tests" / "apiserver" / file
    return path.exists() and (not name or f"def {name}(" in path.read_text())
