"""Passes on what comes in at one address to another: `relay.py HOST:PORT TO_HOST:TO_PORT ...`."""

from __future__ import annotations

import asyncio
import contextlib
import sys


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy one direction of the connection."""
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()


async def relay(here: str, there: str) -> None:
    """Listen, and pass on."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = there.rpartition(":")
        try:
            other_reader, other_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.close()
            return
        await asyncio.gather(carry(reader, other_writer), carry(other_reader, writer))

    host, _, port = here.rpartition(":")
    server = await asyncio.start_server(connected, host, int(port))
    async with server:
        await server.serve_forever()


async def main(words: list[str]) -> None:
    """All of them at once."""
    await asyncio.gather(*(relay(here, there) for here, there in zip(words[::2], words[1::2], strict=True)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
