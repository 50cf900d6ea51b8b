"""Controllers: what enqueues an object, and what becomes of a reconcile."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.controller import (
    Controller,
    Requeue,
    Spec,
    Waiting,
    Watch,
    by_name,
    indexed_by,
    owned_by,
)
from crossply.kube.failures import Conflict
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.sharding import SingleReplica
from crossply.kube.write_guard import NotOwner
from crossply.record.run_context import Run, current
from crossply.values.backoff import RetryPauses

DB = Kind("example.org", "v1", "Db", "dbs", True)
SETTINGS = Kind("example.org", "v1", "Settings", "settings", False)
KEY = ("team", "mine")


def informer_of(kind: Kind) -> Informer:
    informer = Informer(cast(Client, None), kind)
    informer.synced.set()
    return informer


def an_object(
    kind: Kind, name: str, namespace: str = "", version: int = 1, **metadata: Any
) -> dict[str, Any]:
    defaults = {
        "name": name,
        "namespace": namespace,
        "uid": f"{namespace}/{name}",
        "resourceVersion": str(version),
    }
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {**defaults, **metadata}}


class Reconciles:
    """A reconcile function that goes through outcomes, and what it was called with."""

    def __init__(self, *outcomes: BaseException | Requeue | None) -> None:
        self.outcomes = list(outcomes)
        self.keys: list[tuple[str, str]] = []
        self.runs: list[Run | None] = []
        self.times: list[float] = []
        self.failures: list[int] = []
        self.controller: Controller | None = None

    async def __call__(self, key: tuple[str, str]) -> Requeue | None:
        self.keys.append(key)
        self.runs.append(current())
        self.times.append(asyncio.get_running_loop().time())
        self.failures.append(self.controller.failures(key) if self.controller is not None else 0)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def called(self, times: int) -> None:
        async with asyncio.timeout(30):
            while len(self.keys) < times:
                await asyncio.sleep(0.005)


async def play(reconciles: Reconciles, times: int, shards: Any = None, **spec: Any) -> None:
    """Reconcile one object until the function was called so many times."""

    informer = informer_of(DB)
    informer.record_write(an_object(DB, "mine", "team"))
    replica = SimpleNamespace(shards=shards or SingleReplica(), retry=RetryPauses(0.01, 0.1))
    declared = Spec(name="composite/dbs", reconciles=informer, reconcile=reconciles, **spec)
    controller = reconciles.controller = Controller(replica, declared)
    controller.start()
    await reconciles.called(times)
    await asyncio.sleep(0.05)
    await controller.stop()


async def test_existing_objects_are_reconciled_once() -> None:
    reconciles = Reconciles()
    await play(reconciles, 1)
    assert reconciles.keys == [KEY]


@pytest.mark.parametrize("signal", [Conflict("somebody wrote"), Waiting("not yet")])
async def test_a_conflict_and_waiting_are_retried_soon_and_not_logged(signal: Exception, caplog) -> None:
    reconciles = Reconciles(signal, signal)
    with caplog.at_level(logging.INFO, "crossply"):
        await play(reconciles, 3)
    assert reconciles.keys == [KEY] * 3
    assert not caplog.records


async def test_an_error_is_logged_and_retried() -> None:
    lines: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = lines.append  # type: ignore[method-assign]
    logger = logging.getLogger("crossply.control")
    logger.addHandler(handler)
    try:
        reconciles = Reconciles(CrossplyError("down"))
        await play(reconciles, 2)
    finally:
        logger.removeHandler(handler)
    assert [(line.levelname, line.getMessage()) for line in lines] == [("WARNING", "reconcile failed")]
    assert vars(lines[0])["fields"] == {"code": "CP-100", "error": "down"}


async def test_an_unexpected_failure_is_logged_with_its_run_and_retried_in_another(caplog) -> None:
    reconciles = Reconciles(ZeroDivisionError("a mistake"))
    with caplog.at_level(logging.ERROR, "crossply.control"):
        await play(reconciles, 2)
    assert [record.getMessage() for record in caplog.records] == ["reconcile failed unexpectedly"]
    first, second = reconciles.runs
    assert first is not None
    assert second is not None
    assert first.subject == "Db team/mine"
    assert first.id != second.id


async def test_a_requeue_comes_after_its_seconds_and_nothing_comes_without_one() -> None:
    reconciles = Reconciles(Requeue(0.05), None)
    await play(reconciles, 2)
    assert len(reconciles.keys) == 2
    assert reconciles.times[1] - reconciles.times[0] >= 0.05


async def test_a_requeue_without_seconds_backs_off_like_a_failure() -> None:
    reconciles = Reconciles(Requeue(), Requeue())
    await play(reconciles, 3)
    assert reconciles.failures == [0, 1, 2]


async def test_a_lost_shard_is_not_retried() -> None:
    reconciles = Reconciles(NotOwner("another replica"))
    await play(reconciles, 1)
    assert reconciles.keys == [KEY]


async def test_an_object_of_another_replica_is_only_followed() -> None:
    class NoShards(SingleReplica):
        def owns(self, key: str) -> bool:
            return False

    reconciles, elsewhere = Reconciles(), Reconciles()

    informer = informer_of(DB)
    informer.record_write(an_object(DB, "mine", "team"))
    replica = SimpleNamespace(shards=NoShards(), retry=RetryPauses())
    spec = Spec(name="dbs", reconciles=informer, reconcile=reconciles, elsewhere=elsewhere)
    controller = Controller(replica, spec)
    controller.start()
    await elsewhere.called(1)
    await controller.stop()
    assert (reconciles.keys, elsewhere.keys) == ([], [KEY])


async def test_watches_enqueue_by_owner_and_by_index_until_the_controller_stops() -> None:
    reconciled, owned, named = informer_of(SETTINGS), informer_of(DB), informer_of(DB)
    reconciled.add_index("db", lambda obj: [obj["metadata"]["labels"]["db"]])
    reconciled.record_write(an_object(SETTINGS, "large", labels={"db": "mine"}))
    replica = SimpleNamespace(shards=SingleReplica(), retry=RetryPauses())
    names: list[str] = []

    async def reconcile(name: str) -> None:
        names.append(name)

    async def reconciled_next(name: str) -> None:
        async with asyncio.timeout(30):
            while name not in names:
                await asyncio.sleep(0.005)
        names.clear()

    watches = [Watch(owned, owned_by(SETTINGS)), Watch(named, indexed_by(reconciled, "db"))]
    spec = Spec(name="settings", reconciles=reconciled, reconcile=by_name(reconcile), watches=watches)
    controller = Controller(replica, spec)
    controller.start()
    await reconciled_next("large")
    owner = {"kind": "Settings", "name": "small", "controller": True}
    owned.record_write(an_object(DB, "one", "team", ownerReferences=[owner]))
    await reconciled_next("small")
    named.record_write(an_object(DB, "mine", "team"))
    await reconciled_next("large")
    await controller.stop()
    owned.record_write(an_object(DB, "two", "team", ownerReferences=[owner]))
    await asyncio.sleep(0.02)
    assert names == []
