"""Whose rights containers have: never those of root.

The launcher's user namespace has up to three identities. Its 0 is this user. `owner` is who owns the
files of images, and who the function is: we ourselves where we are an ordinary user, and an identity that
owns nothing else where we are root. `spare` is an unused one; runc needs it as root of the container
where the function is another user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from typing import NamedTuple

UNPRIVILEGED = 0x6FFF0000
"""For containers of root. The last of the identities that systemd leaves to containers."""


class Identity(NamedTuple):
    """The identities of the launcher's namespace."""

    maps: tuple[tuple[int, int, int], ...]
    """Inside, outside, how many."""
    owner: int
    """Inside, who owns files and is the function."""
    owner_outside: int
    spare: int | None


class IdMap(NamedTuple):
    """Who the function is in its container, and what the container's identities are to the launcher."""

    user: int
    group: int
    users: tuple[tuple[int, int], ...]
    groups: tuple[tuple[int, int], ...]


def own_identity() -> Identity:
    """The identities that we can have here."""
    user = os.geteuid()
    if user == 0:
        nobody = _nobody()
        if nobody:
            return Identity(((0, 0, 1), (1, nobody, 2)), 1, nobody, 2)
    subordinate = _subordinate(user)
    if subordinate:
        return Identity(((0, user, 1), (1, subordinate, 1)), 0, user, 1)
    return Identity(((0, user, 1),), 0, user, None)


def map_for(identity: Identity, user: int, group: int) -> IdMap:
    """The identities of a container whose image wants to be run by a user and group."""
    if identity.spare is None:
        # With a single identity the container's root is that, which has no privilege at all.
        user = group = 0
    return IdMap(user, group, _entries(identity, user), _entries(identity, group))


def _entries(identity: Identity, user: int) -> tuple[tuple[int, int], ...]:
    if user == 0 or identity.spare is None:
        return ((0, identity.owner),)
    return ((0, identity.spare), (user, identity.owner))


def write_maps(process: int, identity: Identity) -> bool:
    """Give a process in a new user namespace its identities; return whether that worked."""
    if len(identity.maps) > 1 and identity.owner == 0:
        return all(
            _run_helper(f"new{kind}map", process, _group_maps(identity) if kind == "gid" else identity.maps)
            for kind in ("uid", "gid")
        )
    try:
        if os.geteuid() != 0:
            _write(process, "setgroups", "deny")
        for kind, maps in (("uid", identity.maps), ("gid", _group_maps(identity))):
            _write(process, f"{kind}_map", "".join(f"{a} {b} {count}\n" for a, b, count in maps))
    except OSError:
        return False
    return True


def _group_maps(identity: Identity) -> tuple[tuple[int, int, int], ...]:
    return ((0, os.getegid(), 1), *identity.maps[1:])


def _write(process: int, file: str, content: str) -> None:
    with open(f"/proc/{process}/{file}", "w", encoding="ascii") as opened:
        opened.write(content)


def _run_helper(program: str, process: int, maps: tuple[tuple[int, int, int], ...]) -> bool:
    numbers = [str(number) for entry in maps for number in entry]
    done = subprocess.run([program, str(process), *numbers], capture_output=True, check=False)
    return done.returncode == 0


def _subordinate(user: int) -> int:
    """The first identity that the system lends a user, for users and groups alike; 0 where there is none."""
    if not (shutil.which("newuidmap") and shutil.which("newgidmap")):
        return 0
    first = _lent("/etc/subuid", user)
    return first if first and first == _lent("/etc/subgid", user) else 0


def _nobody() -> int:
    """Two identities in a row, for users and groups alike, that root can give to containers; 0 for none.

    In a container of another engine there may be few, or root alone, who then is an ordinary user outside.
    """
    known = [_ranges(f"/proc/self/{kind}_map") for kind in ("uid", "gid")]
    last = [max(first + count - 2 for first, count in ranges) for ranges in known if ranges]
    for candidate in (UNPRIVILEGED, min(last, default=0)):
        if candidate > 0 and all(_has(ranges, candidate) for ranges in known):
            return candidate
    return 0


def _has(ranges: list[tuple[int, int]], number: int) -> bool:
    return any(first <= number and number + 2 <= first + count for first, count in ranges)


def _ranges(path: str) -> list[tuple[int, int]]:
    with open(path, encoding="ascii") as file:
        entries = [line.split() for line in file]
    return [(int(first), int(count)) for first, _, count in entries]


def _lent(path: str, user: int) -> int:
    try:
        names = (pwd.getpwuid(user).pw_name, str(user))
        with open(path, encoding="utf-8") as file:
            entries = [line.strip().split(":") for line in file]
    except (OSError, KeyError, UnicodeDecodeError):
        return 0
    ranges = [entry for entry in entries if len(entry) == 3 and entry[0] in names and entry[1].isdigit()]
    return int(ranges[0][1]) if ranges else 0
