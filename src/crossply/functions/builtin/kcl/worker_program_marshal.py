"""A program as the parent sends it to a worker.

It is encoded with `marshal`, which both have loaded anyway: a worker starts in milliseconds.
"""

from __future__ import annotations

import marshal
from typing import NamedTuple

PREFIX = "crossply_shared"
"""What is put before private names that another module uses (see `shared_private_names`)."""

_VERSION = 2
"""The version of the format that writes equal values as equal bytes."""


class Program(NamedTuple):
    """A program with its files and settings."""

    entries: tuple[tuple[str, str | None], ...]
    """Files and directories, and the code of those that are not virtual files."""
    files: dict[str, str]
    """Virtual files by path."""
    packages: tuple[tuple[str, str], ...]
    """Names that can be imported, and their virtual directories."""
    overrides: tuple[str, ...]
    path_selectors: tuple[str, ...]
    flags: tuple[str, ...]
    arguments: tuple[tuple[str, str], ...]
    """Options that are the same for each request."""
    resource_list: tuple[bytes, bytes]
    """The option `resource_list` as JSON, before and after the parameters of the request."""


def encode_program(program: Program) -> bytes:
    return marshal.dumps(tuple(program), _VERSION)


def decode_program(data: bytes) -> Program:
    return Program(*marshal.loads(data))
