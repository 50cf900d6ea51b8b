"""`trace --watch`: write the tree again whenever something in it changes, until its root is deleted.

Every kind in the tree is watched where it is used. What cannot be watched (a kind that is not served yet, or
one that the user may only read) is looked at again every few seconds. On a terminal the picture is painted
over; elsewhere each new one follows the last.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from typing import TextIO

from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.kube.watch import SYNCED, follow
from crossply.resource_tree.node import Node

REFRESH = 5.0
COALESCE = 0.1
"""Changes come in bursts; after the first, so many seconds are waited for the others."""

_CLEAR, _HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[2J", "\x1b[H", "\x1b[K", "\x1b[J"

Place = tuple[Kind, str]


async def watch(
    client: Client, root: Node, load: Callable[[], Awaitable[Node | None]], paint: Callable[[Node], None]
) -> None:
    """Paint, wait for a change, load and paint again, until there is nothing to load any more."""
    news = News(client)
    tree: Node | None = root
    try:
        while tree is not None:
            paint(tree)
            news.cover(tree)
            await news.wait()
            tree = await load()
    finally:
        await news.close()


class News:
    """Tells that something in a tree changed."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._changed = asyncio.Event()
        self._watches: dict[Place, asyncio.Task[None]] = {}
        self._names: set[tuple[str, str]] = set()

    def cover(self, root: Node) -> None:
        """Watch what is in this tree now, and nothing else."""
        nodes = [node for node in root.walk() if node.kind is not None]
        self._names = {(node.reference.namespace, node.reference.name) for node in nodes}
        places = {(node.kind, _namespace(node)) for node in nodes if node.kind}
        for place in self._watches.keys() - places:
            self._watches.pop(place).cancel()
        # From the root's own version on: it was read first, so nothing that came later is missed.
        since = str(root.metadata.get("resourceVersion") or "")
        for place in places - self._watches.keys():
            self._watches[place] = asyncio.create_task(self._listen(place, since))

    async def wait(self) -> None:
        """Return soon after a change, or after a while."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), REFRESH)
            await asyncio.sleep(COALESCE)
        self._changed.clear()

    async def close(self) -> None:
        """End all watches."""
        for task in self._watches.values():
            task.cancel()
        await asyncio.gather(*self._watches.values(), return_exceptions=True)

    async def _listen(self, place: Place, since: str) -> None:
        kind, namespace = place
        async with aclosing(follow(self._client, kind, namespace=namespace, since=since)) as changes:
            async for change in changes:
                if change.type != SYNCED and change.key in self._names:
                    self._changed.set()


def _namespace(node: Node) -> str:
    return node.reference.namespace if node.kind and node.kind.namespaced else ""


class Screen:
    """Where pictures are painted; an equal one is not painted again."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last = ""

    def paint(self, picture: str) -> None:
        """Show a picture instead of the one before, or after it where the stream is no terminal."""
        if picture == self._last:
            return
        first, self._last = not self._last, picture
        self._stream.write(_over(picture, first) if self._stream.isatty() else picture)
        self._stream.flush()


def _over(picture: str, first: bool) -> str:
    """The picture with the signs that put it over the last one, line by line, so that nothing flickers."""
    lines = fit(picture.splitlines(), *_size())
    body = "".join(f"{line}{_CLEAR_LINE}\n" for line in lines)
    return (_CLEAR if first else "") + _HOME + body + _CLEAR_BELOW


def fit(lines: list[str], columns: int, rows: int) -> list[str]:
    """The lines that fit on a terminal; a long line takes more than one row."""
    used = 0
    for number, line in enumerate(lines):
        used += max(1, -(-len(line) // columns))
        if used >= rows:
            return [*lines[: max(number - 1, 0)], f"… {len(lines) - max(number - 1, 0)} more lines"]
    return lines


def _size() -> tuple[int, int]:
    from shutil import get_terminal_size

    return get_terminal_size()
