"""Keeping the functions of pipelines up to date with the Functions and FunctionRevisions of the cluster."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from crossply.control.calls.pipeline_functions import PipelineFunctions
from crossply.control.kinds import FUNCTION, FUNCTION_REVISION
from crossply.kube.kind import Kind
from crossply.kube.shared_informers import SharedInformers
from crossply.values import Object


async def feed(functions: PipelineFunctions, caches: SharedInformers) -> None:
    """Have all of them known, and from now on every change of them."""
    await _feed(caches, FUNCTION_REVISION, functions.put_revision, functions.remove_revision)
    await _feed(caches, FUNCTION, lambda function, is_new: functions.put(function), functions.remove)


async def _feed(
    caches: SharedInformers, kind: Kind, put: Callable[[Object, bool], None], remove: Callable[[str], None]
) -> None:
    def notice(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        if new is None:
            remove(key[1])
        else:
            put(orjson.loads(new), old is None)

    cache = caches.acquire(kind)
    await cache.synced.wait()
    for data in cache.objects():
        put(orjson.loads(data), False)
    cache.subscribe(notice)
