"""Semantic versions as Go's semver library reads and orders them: leniently, so that `v1.2` is 1.2.0."""

from __future__ import annotations

from typing import NamedTuple

from crossply.values.goquote import quote
from crossply.values.regexp import compile_go

_IDENTIFIERS = r"[0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*"
_PATTERN = rf"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-({_IDENTIFIERS}))?(?:\+({_IDENTIFIERS}))?"
_UINT64_MAX = (1 << 64) - 1


class InvalidVersion(Exception):
    """A text is no version; the message is the library's."""


class Version(NamedTuple):
    """A version, and how it was written."""

    major: int
    minor: int
    patch: int
    prerelease: str
    metadata: str
    original: str

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += f"-{self.prerelease}"
        return f"{text}+{self.metadata}" if self.metadata else text


def parse(text: str) -> Version:
    """Read a version; what is missing after the first number counts as zero."""
    match = compile_go(f"^(?:{_PATTERN})$").search(text) if text.isascii() else None
    if match is None:
        raise InvalidVersion("invalid semantic version")
    major, minor, patch, prerelease, metadata = (part or "" for part in match.groups())
    numbers = [_number(part) for part in (major, minor, patch)]
    for part in prerelease.split("."):
        if len(part) > 1 and part[0] == "0" and part.isdigit():
            raise InvalidVersion("version segment starts with 0")
    return Version(numbers[0], numbers[1], numbers[2], prerelease, metadata, text)


def _number(digits: str) -> int:
    number = int(digits[:400] or "0")
    if number > _UINT64_MAX or len(digits) > 400:
        problem = f"strconv.ParseUint: parsing {quote(digits)}: value out of range"
        raise InvalidVersion(f"error parsing version segment: {problem}")
    return number


def compare(one: Version, other: Version) -> int:
    """-1, 0 or 1: whether a version is before, equal to or after another; metadata does not count."""
    if one[:3] != other[:3]:
        return -1 if one[:3] < other[:3] else 1
    if one.prerelease == other.prerelease:
        return 0
    if not one.prerelease or not other.prerelease:
        return 1 if not one.prerelease else -1
    return compare_prereleases(one.prerelease, other.prerelease)


def compare_prereleases(one: str, other: str) -> int:
    """Compare what follows the hyphen, identifier by identifier; a missing one is the least."""
    left, right = one.split("."), other.split(".")
    for index in range(max(len(left), len(right))):
        left_part = left[index] if index < len(left) else ""
        right_part = right[index] if index < len(right) else ""
        if left_part != right_part:
            return 1 if _rank(left_part) > _rank(right_part) else -1
    return 0


def _rank(identifier: str) -> tuple[int, int, str]:
    """Nothing before numbers, numbers before words."""
    if not identifier:
        return 0, 0, ""
    if identifier.isdigit() and len(identifier) <= 20 and int(identifier) <= _UINT64_MAX:
        return 1, int(identifier), ""
    return 2, 0, identifier
