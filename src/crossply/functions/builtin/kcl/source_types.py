"""What a step names as its source, how inline code is told from a place, and the files of a program."""

from __future__ import annotations

from typing import NamedTuple

from crossply.values import Object

PROGRAM = "prog.k"
"""The file name of inline programs in error messages."""

SCHEME = "oci://"
"""How sources in registries begin."""

_LOCATIONS = (
    SCHEME,
    *("/", "."),
    *("http://", "https://", "git::", "github.com", "gitlab.com/", "bitbucket.org/"),
)


class Source(NamedTuple):
    """What a step names."""

    text: str
    dependencies: str = ""
    settings: tuple[str, ...] = ()
    """Settings files."""


class ProgramFiles(NamedTuple):
    """A program: its entries, the virtual files that it can read, and its settings."""

    entries: tuple[tuple[str, str | None], ...]
    """Names, and the code of inline programs."""
    files: dict[str, str] = {}  # noqa: RUF012 - read only
    packages: tuple[tuple[str, str], ...] = ()
    """Names that can be imported, and their virtual directories."""
    config: Object = {}  # noqa: RUF012 - read only
    watched: tuple[str, ...] = ()
    """Files and directories that may change."""


def is_inline(text: str) -> bool:
    """Whether a source is code; it is where it does not begin as the name of a place does."""
    return not text.startswith(_LOCATIONS)
