"""The address that a server is to listen on, as a flag names it."""

from __future__ import annotations

from crossply.cli.framework.command import UsageError


def parse_listen(text: str) -> tuple[str, int]:
    """The host and port of `--listen`; raises UsageError."""
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdecimal()) or int(port[:6]) > 65535:
        raise UsageError(f'--listen: expected HOST:PORT but got "{text}"')
    if not host:
        raise UsageError(f"--listen: name the address, such as 127.0.0.1{text}, or 0.0.0.0{text} for all")
    return host.strip("[]"), int(port)
