"""Roles made of other roles."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import orjson
import pytest

from crossply.apiserver.auth.cluster_role_aggregation import (
    MANAGER,
    AggregationController,
    aggregated_rules,
    store_writer,
)
from crossply.apiserver.auth.rbac.role_index import CLUSTER_ROLES
from crossply.apiserver.storage import Store
from crossply.apiserver.stored_object_codec import encoder
from tests.support.apiserver.rbac import Object, cluster_role, rule

GET, LIST, WATCH = (rule(verb, "pods") for verb in ("get", "list", "watch"))


def _gathers(name: str, *selectors: Object, **more: object) -> Object:
    return cluster_role(name, aggregationRule={"clusterRoleSelectors": list(selectors)}, **more)


def _labels(**labels: str) -> Object:
    return {"matchLabels": labels}


PARTS = [
    cluster_role("b", GET, LIST, labels={"to": "x"}),
    cluster_role("a", LIST, labels={"to": "x"}),
    cluster_role("c", WATCH, labels={"to": "y"}),
    cluster_role("d", rule("frob", "pods")),
]
SELECTIONS = [
    ([_labels(to="x")], [LIST, GET], "by name, and no rule twice"),
    ([_labels(to="y"), _labels(to="x")], [WATCH, LIST, GET], "selectors in their order"),
    ([_labels(to="z")], [], "nothing fits"),
    ([], [], "no selector"),
    (
        [{"matchExpressions": [{"key": "to", "operator": "In", "values": ["y"]}]}],
        [WATCH],
        "by an expression",
    ),
    (
        [{"matchExpressions": [{"key": "to", "operator": "DoesNotExist"}]}],
        [rule("frob", "pods")],
        "by the absence of a label, but never itself",
    ),
    ([{"matchExpressions": [{"key": "to", "operator": "Near"}]}], [], "an operator that nobody knows"),
    ([{}], [LIST, GET, WATCH, rule("frob", "pods")], "an empty selector is everybody"),
]


@pytest.mark.parametrize(("selectors", "rules", "reason"), SELECTIONS, ids=[case[2] for case in SELECTIONS])
def test_an_aggregating_role_gathers(selectors: list[Object], rules: list[Object], reason: str) -> None:
    gathering = _gathers("all", *selectors)
    assert aggregated_rules(gathering, [gathering, *PARTS]) == rules, reason


def test_a_role_without_an_aggregation_rule_gathers_nothing() -> None:
    assert aggregated_rules(PARTS[0], PARTS) is None


def _now() -> datetime:
    return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


async def _put(store: Store, body: Object) -> None:
    key = (CLUSTER_ROLES, "", body["metadata"]["name"])
    latest = store.latest(key)
    await store.write(key, latest.revision if latest else None, encoder(body))


def _stored(store: Store, name: str) -> Object:
    entry = store.get((CLUSTER_ROLES, "", name))
    assert entry is not None
    return orjson.loads(entry.data)


async def test_the_controller_aggregates_through_chains_and_when_a_part_changes() -> None:
    store = await Store.open(None)
    await _put(store, _gathers("outer", _labels(to="outer")))
    await _put(store, _gathers("inner", _labels(to="inner"), labels={"to": "outer"}))
    await _put(store, cluster_role("part", GET, labels={"to": "inner"}))
    running = asyncio.create_task(AggregationController(store, store_writer(store, _now)).run())
    await _until(lambda: _stored(store, "outer")["rules"] == [GET])
    await _put(store, cluster_role("part", GET, LIST, labels={"to": "inner"}))
    await _until(lambda: _stored(store, "outer")["rules"] == [GET, LIST])
    running.cancel()
    owner = _stored(store, "outer")["metadata"]["managedFields"]
    assert [(entry["manager"], entry["operation"]) for entry in owner] == [(MANAGER, "Apply")]
    await store.close()


async def test_roles_that_aggregate_in_a_cycle_converge() -> None:
    store = await Store.open(None)
    for name, source, rules in (("a", "b", [GET]), ("b", "c", [LIST]), ("c", "a", [WATCH])):
        body = _gathers(name, _labels(me=source), labels={"me": name})
        await _put(store, {**body, "rules": rules})
    assert await AggregationController(store, store_writer(store, _now)).settle()
    assert len({str(_stored(store, name)["rules"]) for name in "abc"}) == 1
    await store.close()


async def test_writes_without_effect_do_not_keep_the_controller_busy_for_ever() -> None:
    async def in_vain(name: str, rules: list[Object]) -> None:
        attempts.append(name)

    attempts: list[str] = []
    store = await Store.open(None)
    await _put(store, _gathers("outer", _labels(to="outer")))
    await _put(store, cluster_role("part", GET, labels={"to": "outer"}))
    assert not await AggregationController(store, in_vain).settle()
    await store.close()
    assert 1 < len(attempts) < 1000


async def _until(condition: object) -> None:
    for _ in range(500):
        if condition():  # type: ignore[operator]
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to hold")
