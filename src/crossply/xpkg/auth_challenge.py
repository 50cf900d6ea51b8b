"""Parses the authentication challenges of registries: `WWW-Authenticate`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_PAIR = re.compile(r'\s*([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,|$)')
_LONGEST = 8192


class Challenge(NamedTuple):
    """One way to authenticate, with its parameters."""

    scheme: str
    parameters: dict[str, str]


def read_challenges(headers: Sequence[str]) -> list[Challenge]:
    """The ways that a registry offers; what cannot be understood is left out."""
    return [challenge for header in headers if (challenge := _read(header[:_LONGEST])) is not None]


def _read(header: str) -> Challenge | None:
    scheme, _, rest = header.strip().partition(" ")
    if not scheme:
        return None
    parameters = {}
    position = 0
    while pair := _PAIR.match(rest, position):
        name, quoted, plain = pair.groups()
        value = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain
        parameters[name.lower()] = value
        position = pair.end()
    return Challenge(scheme.lower(), parameters)
