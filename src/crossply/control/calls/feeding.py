"""Keeping the functions of pipelines up to date with the Functions and FunctionRevisions of the cluster."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from crossply.control.calls.pipeline_functions import PipelineFunctions
from crossply.control.kinds import FUNCTION, FUNCTION_REVISION
from crossply.kube.caches import Caches
from crossply.kube.kind import Kind
from crossply.values import Object


async def feed(functions: PipelineFunctions, caches: Caches) -> None:
    """Have all of them known, and from now on every change of them."""
    revisions = (FUNCTION_REVISION, functions.put_revision, functions.remove_revision)
    for kind, put, remove in (revisions, (FUNCTION, functions.put, functions.remove)):
        await _feed(caches, kind, put, remove)


async def _feed(
    caches: Caches, kind: Kind, put: Callable[[Object], None], remove: Callable[[str], None]
) -> None:
    def notice(change: str, key: tuple[str, str], old: bytes | None, new: bytes | None) -> None:
        if new is None:
            remove(key[1])
        else:
            put(orjson.loads(new))

    cache = caches.acquire(kind)
    await cache.synced.wait()
    for data in cache.objects():
        put(orjson.loads(data))
    cache.subscribe(notice)
