"""CEL functions on semantic versions: `semver("1.2.3").isLessThan(semver("2.0.0"))`."""

from __future__ import annotations

import re
from typing import Any

Held = dict[str, str]
_NUMBER = "0|[1-9][0-9]*"
_PART = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = re.compile(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_PART}))?(?:\+({_PART}))?")


def semver(text: str, normalize: bool = False) -> Held:
    """Read a version; normalizing drops a leading v and leading zeros and fills in missing parts."""
    version = _normalized(text) if normalize else text
    found = _VERSION.fullmatch(version)
    if not found or any(_has_leading_zero(part) for part in (found[4] or "").split(".")):
        raise ValueError(f"invalid semantic version: {text}")
    return {"semver": version.partition("+")[0]}


def is_semver(text: str, normalize: bool = False) -> bool:
    """Tell whether a text is a semantic version."""
    try:
        semver(text, normalize)
    except ValueError:
        return False
    return True


def major(held: Held) -> int:
    """Return the first number of a version."""
    return int(_parts(held)[1])


def minor(held: Held) -> int:
    """Return the second number of a version."""
    return int(_parts(held)[2])


def patch(held: Held) -> int:
    """Return the third number of a version."""
    return int(_parts(held)[3])


def compare(one: Held, other: Held) -> int:
    """Return -1, 0 or 1 by the precedence of semantic versions."""
    left, right = _rank(one), _rank(other)
    return (left > right) - (left < right)


def _rank(held: Held) -> tuple[Any, ...]:
    found = _parts(held)
    numbers = tuple(int(found[index]) for index in (1, 2, 3))
    if found[4] is None:
        return (*numbers, 1)
    return (*numbers, 0, tuple(_identifier_rank(part) for part in found[4].split(".")))


def _identifier_rank(part: str) -> tuple[int, int, str]:
    return (0, int(part), "") if part.isdigit() else (1, 0, part)


def _parts(held: Held) -> re.Match[str]:
    found = _VERSION.fullmatch(held.get("semver", ""))
    if not found:
        raise ValueError("no such overload")
    return found


def _has_leading_zero(part: str) -> bool:
    return part.isdigit() and len(part) > 1 and part.startswith("0")


def _normalized(text: str) -> str:
    found = re.fullmatch(r"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?([-+].*)?", text)
    if not found:
        return text
    numbers = ".".join(str(int(found[index] or "0")) for index in (1, 2, 3))
    return numbers + (found[4] or "")
