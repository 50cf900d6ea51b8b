"""CEL functions on semantic versions: `semver("1.2.3").isLessThan(semver("2.0.0"))`."""

from __future__ import annotations

import re
from typing import Any

TaggedMap = dict[str, str]
_NUMBER = "0|[1-9][0-9]*"
_PART = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = re.compile(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_PART}))?(?:\+({_PART}))?")


def semver(text: str, normalize: bool = False) -> TaggedMap:
    """Read a version; normalizing drops a leading v and leading zeros and fills in missing parts."""
    version = _normalized(text) if normalize else text
    match = _VERSION.fullmatch(version)
    if not match or any(_has_leading_zero(part) for part in (match[4] or "").split(".")):
        raise ValueError(f"invalid semantic version: {text}")
    return {"semver": version.partition("+")[0]}


def is_semver(text: str, normalize: bool = False) -> bool:
    """Return whether a text is a semantic version."""
    try:
        semver(text, normalize)
    except ValueError:
        return False
    return True


def major(tagged: TaggedMap) -> int:
    """Return the first number of a version."""
    return int(_parts(tagged)[1])


def minor(tagged: TaggedMap) -> int:
    """Return the second number of a version."""
    return int(_parts(tagged)[2])


def patch(tagged: TaggedMap) -> int:
    """Return the third number of a version."""
    return int(_parts(tagged)[3])


def compare(one: TaggedMap, other: TaggedMap) -> int:
    """Return -1, 0 or 1 by the precedence of semantic versions."""
    left, right = _rank(one), _rank(other)
    return (left > right) - (left < right)


def _rank(tagged: TaggedMap) -> tuple[Any, ...]:
    parts = _parts(tagged)
    numbers = tuple(int(parts[index]) for index in (1, 2, 3))
    if parts[4] is None:
        return (*numbers, 1)
    return (*numbers, 0, tuple(_identifier_rank(part) for part in parts[4].split(".")))


def _identifier_rank(part: str) -> tuple[int, int, str]:
    return (0, int(part), "") if part.isdigit() else (1, 0, part)


def _parts(tagged: TaggedMap) -> re.Match[str]:
    match = _VERSION.fullmatch(tagged.get("semver", ""))
    if not match:
        raise ValueError("no such overload")
    return match


def _has_leading_zero(part: str) -> bool:
    return part.isdigit() and len(part) > 1 and part.startswith("0")


def _normalized(text: str) -> str:
    match = re.fullmatch(r"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?([-+].*)?", text)
    if not match:
        return text
    numbers = ".".join(str(int(match[index] or "0")) for index in (1, 2, 3))
    return numbers + (match[4] or "")
