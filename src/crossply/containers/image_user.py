"""The user that an image runs as: a number, or a name from its own /etc/passwd and /etc/group."""

from __future__ import annotations

import os

from crossply.containers.failures import BadImage
from crossply.xpkg.confined_directory import ConfinedDirectory
from crossply.xpkg.failures import UnsafeEntry

_LARGEST_FILE = 1 << 20
_LARGEST_ID = 1 << 31


def image_user(root: str, text: str) -> tuple[int, int]:
    """The user and the group that the image's configuration names, as numbers."""
    user, _, group = text.partition(":")
    number, first_group = _user(root, user) if user else (0, 0)
    return number, (_group(root, group) if group else first_group)


def _user(root: str, name: str) -> tuple[int, int]:
    if name.isdigit():
        listed = [entry for entry in _entries(root, "passwd") if entry[2] == name]
        return _number(name), _number(listed[0][3]) if listed else 0
    for entry in _entries(root, "passwd"):
        if entry[0] == name:
            return _number(entry[2]), _number(entry[3])
    raise BadImage(f"the image wants to be run by the user {name!r}, whom its /etc/passwd does not have")


def _group(root: str, name: str) -> int:
    if name.isdigit():
        return _number(name)
    for entry in _entries(root, "group"):
        if entry[0] == name:
            return _number(entry[2])
    raise BadImage(f"the image wants to be run by the group {name!r}, which its /etc/group does not have")


def _number(text: str) -> int:
    if not text.isdigit() or int(text) >= _LARGEST_ID:
        raise BadImage(f"{text[:40]!r} is no number of a user or group")
    return int(text)


def _entries(root: str, name: str) -> list[list[str]]:
    """The lines of a file of the image, which is read without leaving the image."""
    try:
        with ConfinedDirectory(root) as image:
            directory = image.directory(["etc"])
            try:
                opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
            finally:
                os.close(directory)
        with os.fdopen(opened, "rb") as file:
            text = file.read(_LARGEST_FILE).decode("utf-8", "replace")
    except (OSError, UnsafeEntry):
        return []
    lines = [line.split(":") for line in text.splitlines()]
    return [fields for fields in lines if len(fields) >= 4]
