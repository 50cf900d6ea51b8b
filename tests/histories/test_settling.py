"""What is wrong with a control plane at rest is found, and nothing else is."""

from __future__ import annotations

import copy
import pathlib
from collections.abc import Callable

import pytest

from tests.histories.composites import OWNER, RESOURCE_NAME, Composites, Object
from tests.histories.connection import Connection
from tests.histories.settling import wrong

World = tuple[list[Object], list[Object]]


def _part(name: str, owner: str = "stack-0") -> Object:
    metadata = {"name": f"{owner}-{name}", "labels": {OWNER: owner}, "annotations": {RESOURCE_NAME: name}}
    return {"metadata": metadata, "data": {"size": "small"}}


def _settled() -> World:
    conditions = [{"type": kind, "status": "True"} for kind in ("Synced", "Ready")]
    stack = {"metadata": {"name": "stack-0"}, "spec": {"size": "small"}, "status": {"conditions": conditions}}
    return [stack], [_part("one"), _part("two")]


def _problems(world: World) -> list[str]:
    composites = Composites(Connection(pathlib.Path()), "seed", 1)
    desired = {"stack-0": {name: _part(name) for name in ("one", "two")}}
    return wrong(composites, desired, *world)


def test_a_settled_world_has_no_problem() -> None:
    assert _problems(_settled()) == []


def _lose_an_edit(world: World) -> None:
    world[0][0]["spec"]["size"] = "older"


def _not_ready(world: World) -> None:
    world[0][0]["status"]["conditions"].pop()


def _leave_an_orphan(world: World) -> None:
    world[1].append(_part("one", "stack-9"))


def _double_a_part(world: World) -> None:
    world[1].append(copy.deepcopy(world[1][0]))


def _lose_a_part(world: World) -> None:
    world[1].pop()


def _keep_damage(world: World) -> None:
    world[1][0]["data"]["size"] = "damaged"


def _lose_a_composite(world: World) -> None:
    world[0].clear()
    world[1].clear()


@pytest.mark.parametrize(
    "spoil",
    [
        _lose_an_edit,
        _not_ready,
        _leave_an_orphan,
        _double_a_part,
        _lose_a_part,
        _keep_damage,
        _lose_a_composite,
    ],
)
def test_every_defect_is_detected(spoil: Callable[[World], None]) -> None:
    world = _settled()
    spoil(world)
    assert len(_problems(world)) == 1
