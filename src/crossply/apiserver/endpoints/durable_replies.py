"""Refusals of writes wait until what they tell of is durable.

A writer builds on the latest state, which includes writes that a crash or a full disk can still take back.
Its own write is answered when it is durable. A refusal ("already exists", "modified", "not found") shows that
state too: without the wait a client could be told of an object that a read does not find, or that never was.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.server_context import World
from crossply.apiserver.storage import StorageFailed

READING = frozenset(("get", "list", "watch"))
_ABOUT_STATE = (404, 409)

Answer = TypeVar("Answer")


async def durable_answer(world: World, call: Call, answer: Awaitable[Answer]) -> Answer:
    """The answer to a write, or its refusal when that is true for every reader; raises StorageError."""
    failed_before = world.store.failed_commits
    try:
        return await answer
    except StatusError as refusal:
        for key in _shown_keys(call):
            await world.store.until_durable(key)
        if refusal.status in _ABOUT_STATE and world.store.failed_commits != failed_before:
            raise StorageFailed("the state that the request was checked against was taken back") from None
        raise


def _shown_keys(call: Call) -> list[tuple[str, str, str]]:
    """The objects that a refusal may tell of: the one that the request names, and its namespace."""
    keys = [("namespaces", "", call.namespace)] if call.namespace else []
    return [*keys, (call.resource.key, call.namespace, call.name)] if call.name else keys
