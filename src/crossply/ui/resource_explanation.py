"""What `crossply explain` says about a resource, for its page: with the viewer's rights, bounded in time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from crossply.control.kinds import PROVIDER
from crossply.diagnosis.explanation import explain_resource
from crossply.diagnosis.model import Cause
from crossply.diagnosis.package_logs import LINES
from crossply.diagnosis.root_cause_search import find_cause
from crossply.errors import CrossplyError
from crossply.kube.kind import Kind
from crossply.resource_tree.composite_tree import Trees, child_references
from crossply.resource_tree.node import Node
from crossply.resource_tree.object_reader import DEFAULT_CONCURRENCY, Reader
from crossply.resource_tree.reconciling_provider import Origins
from crossply.ui.causes import tree_in_memory
from crossply.ui.object_state_and_row import PAUSED, READY, row_of
from crossply.ui.package_logs import read_log
from crossply.ui.page_types import PageRequest
from crossply.values import Object

SECONDS = 5.0
MOST_READ = 60
"""Of what a resource composes; a larger tree is taken from memory."""


async def explained_cause(page: PageRequest, kind: Kind, obj: Object) -> Cause | None:
    """Why a resource is not ready, or why no provider reconciles what it composes."""
    if row_of(obj).state in (READY, PAUSED) and not await _has_provider_down(page):
        return None
    in_memory = tree_in_memory(page.view, kind, obj)
    try:
        async with asyncio.timeout(SECONDS):
            return await _explain(page, kind, obj, in_memory)
    except (TimeoutError, CrossplyError):
        return find_cause(in_memory)


async def _explain(page: PageRequest, kind: Kind, obj: Object, in_memory: Node) -> Cause | None:
    reader = Reader(page.client, page.view.kinds, DEFAULT_CONCURRENCY)
    root = Node(obj, kind)
    if len(child_references(root, False)) > MOST_READ:
        root = in_memory
    elif not root.is_package:
        await Trees(reader, False).grow(root)
    await Origins(reader, True).add(root)

    async def log(package_kind: str, name: str) -> Sequence[str]:
        try:
            text = await read_log(page.client, page.settings.logs, package_kind.capitalize(), name)
        except CrossplyError:
            return ()
        return [line[:1000] for line in (text or "").splitlines() if line.strip()][-LINES:]

    return (await explain_resource(page.client, reader, root, log)).cause


async def _has_provider_down(page: PageRequest) -> bool:
    providers = await page.view.watch(PROVIDER)
    return bool(providers.attention)
