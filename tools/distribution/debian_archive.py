"""Reads packages of Debian: their descriptions, and those of their files that an image needs."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crossply.xpkg.layer_writer import Entry

_MAGIC = b"!<arch>\n"
_LEFT_OUT = re.compile(
    r"usr/share/(?:man|info|locale|lintian|bug|bash-completion|pixmaps|applications|doc-base|binfmts)/"
    r"|usr/share/doc/[^/]+/(?!copyright$)"
    r"|usr/lib/[^/]+/gconv/"
    r"|usr/lib/python3[^/]*/(?:idlelib|turtledemo|tkinter|ensurepip|lib2to3|__pycache__)/"
    r"|(?:usr/)?bin/(?:py3clean|py3compile)$"
    r"|usr/share/python3/"
    r"|etc/(?:init\.d|default|update-motd\.d)/"
)
"""Documentation but for licenses, other languages, character sets, and what dpkg and desktops use."""


class DebianFiles(NamedTuple):
    """What a package has."""

    entries: list[Entry]
    control: str
    """Its description, as dpkg has it."""


def is_included(name: str) -> bool:
    """Whether a file, or a directory with a slash at its end, belongs into an image."""
    return _LEFT_OUT.match(name) is None


def read_package(data: bytes, accepts: Callable[[str], bool] = is_included) -> DebianFiles:
    """The files of a package that are wanted, and its description."""
    members = dict(_members(data))
    [content] = [name for name in members if name.startswith("data.tar")]
    [control] = [name for name in members if name.startswith("control.tar")]
    with tarfile.open(fileobj=io.BytesIO(members[control])) as tar:
        file = tar.extractfile("./control")
        description = file.read().decode() if file else ""
    return DebianFiles(list(_entries(members[content], accepts)), description)


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The members of an `ar` archive: a header of 60 bytes each, at even places."""
    if not data.startswith(_MAGIC):
        raise ValueError("it is not a package of Debian")
    at = len(_MAGIC)
    while at < len(data):
        name, size = data[at : at + 16].decode().rstrip(" /"), int(data[at + 48 : at + 58])
        yield name, data[at + 60 : at + 60 + size]
        at += 60 + size + size % 2


def _entries(data: bytes, accepts: Callable[[str], bool]) -> Iterator[Entry]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for info in tar:
            name = info.name.removeprefix("./").rstrip("/")
            if name in ("", ".") or not accepts(f"{name}/" if info.isdir() else name):
                continue
            if info.isdir():
                yield Entry(f"{name}/", mode=info.mode, is_directory=True)
            elif info.issym():
                yield Entry(name, mode=0o777, link=info.linkname)
            else:
                # A hard link becomes a copy; nothing that the base has is linked.
                file = tar.extractfile(info)
                yield Entry(name, file.read() if file else b"", info.mode & 0o777)
