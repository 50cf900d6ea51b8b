"""The page of promises names tests that exist, and their last results are recorded."""

from __future__ import annotations

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reliability.md").read_text()
RESULTS = (ROOT / "docs" / "reference" / "promises.md").read_text()
# fmt: off
PROMISES = [
    "crash-ack", "crash-reconcile", "power-loss", "disk-full", "db-corrupt", "backup-live", "upgrade-down",
    "clock-skew", "rv-monotone", "linearizable", "watch-gap", "watch-410", "watch-bookmark",
    "list-consistent", "slow-watcher", "conflicting-writers", "huge-object", "malformed-http",
    "panic-schema", "api-restart", "scale-10k", "no-op-quiet", "fn-hang", "fn-crash", "fn-garbage",
    "fn-oversize", "fn-slowloris", "fn-nondeterministic", "fn-requirements-loop", "fn-drop-desired",
    "fn-steal", "fn-metadata-abuse", "fn-auth", "fn-cred-leak", "delete-order", "revision-race", "circular",
    "tpl-loop", "tpl-escape", "regex-bomb", "starlark-loop", "cel-bomb", "yaml-bomb", "json-depth",
    "num-fidelity", "pkg-traversal", "pkg-bomb", "pkg-digest", "pkg-sig", "pkg-cycle", "pkg-cred-ssrf",
    "fn-container", "rbac-composition", "xns-refs", "secret-logs", "secret-at-rest", "api-authn",
    "api-authz-watch", "webhook-ssrf", "oom", "fd-exhaust", "log-flood", "leader", "graceful", "wal-lost",
    "fairness", "pkg-word", "pkg-registry-down", "engine-writers", "tenants", "fn-rollout", "fn-command",
    "fn-runner", "engine-secrets", "replica-leader", "replica-graceful", "replica-clock",
]
# fmt: on


def names(page: str) -> list[str]:
    """The promises of all tables with a name in the first column."""
    result = []
    is_table = False
    for line in page.splitlines():
        is_table = line.startswith(("| id |", "| promise |")) or (is_table and line.startswith("|"))
        row = re.match(r"\| ([a-z0-9-]+) \|", line)
        if is_table and row is not None and row[1] not in ("id", "promise"):
            result.append(row[1])
    return result


def test_every_promise_is_on_the_page_once() -> None:
    assert [promise for promise in PROMISES if promise not in names(PAGE)] == []
    assert len(names(PAGE)) == len(set(names(PAGE)))


def test_the_last_results_are_those_of_these_promises_and_none_failed() -> None:
    assert names(RESULTS) == names(PAGE)
    assert "failed" not in RESULTS


def test_every_promise_that_names_a_test_has_results() -> None:
    without = set(re.findall(r"^\| ([a-z0-9-]+) \|.* no test ran \|$", RESULTS, re.MULTILINE))
    named = {row[1] for row in re.finditer(r"^\| ([a-z0-9-]+) \|.*`.*test_\w+\.py.*`", PAGE, re.MULTILINE)}
    assert without & named == set()


def test_every_test_on_the_page_exists() -> None:
    named = re.findall(r"`((?:tests/)?[\w/]+(?:\.py)?(?:::\w+)?)`", PAGE)
    places = [name for name in named if "test_" in name or name.startswith("tests/")]
    assert len(places) > 40
    assert [place for place in places if not _exists(place)] == []


def _exists(place: str) -> bool:
    file, _, name = place.partition("::")
    path = ROOT / file if file.startswith("tests/") else ROOT / "tests" / "apiserver" / file
    return path.exists() and (not name or f"def {name}(" in path.read_text())
