"""The lines of a streamed body; a line may be as long as the largest object."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import aiohttp

from crossply.kube.failures import Unreachable

LONGEST_LINE = 64 * 1024 * 1024


async def lines(body: aiohttp.StreamReader) -> AsyncGenerator[bytes, None]:
    """Every whole line; what follows the last line end is dropped, as the connection broke there."""
    pieces: list[bytes] = []
    size = 0
    while chunk := await body.readany():
        first, *others = chunk.split(b"\n")
        pieces.append(first)
        size += len(first)
        if size > LONGEST_LINE:
            raise Unreachable(f"the watch sent a line of more than {LONGEST_LINE} bytes")
        if not others:
            continue
        yield b"".join(pieces)
        for line in others[:-1]:
            yield line
        pieces = [others[-1]]
        size = len(others[-1])
