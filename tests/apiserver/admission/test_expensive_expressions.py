"""Expressions that take long do not hold up the requests of others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from crossply.apiserver.auth.rbac.authorizer import Decision
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.served_resources import Version
from tests.support.apiserver.admission import Setting, setting
from tests.support.apiserver.store_bench import custom

EXPENSIVE = "self.map(x, self.map(y, x + y).join('')).all(t, t.size() > 0)"
ITEMS = [f"{index:04}" for index in range(60)]


async def turns_beside(work: Awaitable[Any]) -> tuple[int, str]:
    """How often the event loop does something else while a request is served, and why it was refused."""
    task = asyncio.ensure_future(work)
    turns = 0
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    problem = task.exception()
    assert problem is None or isinstance(problem, StatusError)
    return turns, str(problem or "")


def create(client: Setting) -> Awaitable[Any]:
    return client.create("widgets", "default", "one", spec={"items": ITEMS})


async def test_a_policy_leaves_the_event_loop_to_others(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.policy("p", f"!({EXPENSIVE})".replace("self", "object.spec.items"))
        turns, refusal = await turns_beside(create(client))
        assert "denied request: failed expression" in refusal
        assert turns > 20


async def test_conditions_of_webhooks_leave_the_event_loop_to_others(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        condition = {"name": "c", "expression": f"!({EXPENSIVE})".replace("self", "object.spec.items")}
        hook = client.hook("/never", {"allowed": False}, matchConditions=[condition])
        await client.validating("hooks", hook)
        turns, refusal = await turns_beside(create(client))
        assert refusal == ""
        assert turns > 20


async def test_rules_of_a_schema_leave_the_event_loop_to_others(tmp_path: Path) -> None:
    rule = {"rule": f"!({EXPENSIVE})", "message": "too simple"}
    items = {"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": [rule]}
    spec = {"type": "object", "properties": {"items": items}}
    schema = {"type": "object", "properties": {"spec": spec}}
    async with setting(tmp_path) as client:
        client.context.registry.put(custom("widgets", "Widget", True, versions={"v1": Version("v1", schema)}))
        turns, refusal = await turns_beside(create(client))
        assert "too simple" in refusal
        assert turns > 20


async def test_rights_are_checked_in_the_event_loop(tmp_path: Path) -> None:
    loops = []

    def authorize(user: User, info: RequestInfo) -> Decision:
        loops.append(asyncio.get_running_loop())
        return Decision(True, "")

    async with setting(tmp_path, authorize) as client:
        expensive = EXPENSIVE.replace("self", "object.spec.items")
        allowed = "authorizer.group('').resource('secrets').check('get').allowed()"
        await client.policy("p", allowed, f"!({expensive})")
        _, refusal = await turns_beside(create(client))
        assert "failed expression: !(" in refusal
        assert loops == [asyncio.get_running_loop()] * 2  # in the first attempt, and in the thread
