"""Which versions satisfy a constraint such as `>=1.2, <2 || ~3.1`, by the rules of Go's semver library.

Packages constrain what they depend on so, and templates compare versions so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from crossply.values.goquote import REPLACEMENT
from crossply.values.regexp import compile_go
from crossply.values.semver import InvalidVersion, Version, compare, compare_prereleases, parse

_PART = r"[0-9|x|X|\*]+"
_IDENTIFIERS = r"[0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*"
_VERSION = rf"v?({_PART})(\.{_PART})?(\.{_PART})?(-{_IDENTIFIERS})?(?:\+{_IDENTIFIERS})?"
_OPERATOR = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^"
_CONSTRAINT = rf"^\s*({_OPERATOR})\s*({_VERSION})\s*$"
_RANGE = rf"\s*({_VERSION})\s+-\s+({_VERSION})\s*"
_CONSTRAINT_IN_GROUP = rf"(?:{_OPERATOR})\s*(?:{_VERSION})"
_GROUP = rf"^(?:\s*(?:{_OPERATOR})\s*(?:{_VERSION})\s*)(?:(?:\s+|,\s*)(?:{_OPERATOR})\s*(?:{_VERSION})\s*)*$"
_MAX_TEXT = 10_000
_ANYTHING = ("x", "X", "*", "")


class InvalidConstraint(Exception):
    """A text is no constraint; the message is the library's."""


class _Constraint(NamedTuple):
    """One comparison. `dirty` is true if a part was left open, `open_minor` and `open_patch` which."""

    operator: str
    version: Version
    dirty: bool = False
    open_minor: bool = False
    open_patch: bool = False


def check(text: str) -> None:
    """Raise InvalidConstraint unless the text is a constraint."""
    _groups(text)


def is_constraint(text: str) -> bool:
    """Whether the text stands for several versions, of which the best is taken."""
    try:
        parse(text)
        return False
    except InvalidVersion:
        pass
    try:
        check(text)
        return bool(text)
    except InvalidConstraint:
        return False


def satisfies(text: str, version: Version) -> bool:
    """Return whether a version satisfies a constraint."""
    return any(_meets_all(group, version) for group in _groups(text))


def compiled(text: str) -> Callable[[Version], bool]:
    """The same for many versions: the constraint is parsed once; raises InvalidConstraint."""
    groups = _groups(text)
    return lambda version: any(_meets_all(group, version) for group in groups)


def _meets_all(group: tuple[_Constraint, ...], version: Version) -> bool:
    # A pre-release is considered only by a group that mentions one.
    if version.prerelease and not any(constraint.version.prerelease for constraint in group):
        return False
    return all(_CHECKS[constraint.operator](version, constraint) for constraint in group)


@lru_cache(maxsize=64)
def _groups(text: str) -> tuple[tuple[_Constraint, ...], ...]:
    if len(text) > _MAX_TEXT:
        raise InvalidConstraint(f"improper constraint: longer than {_MAX_TEXT} characters")
    return tuple(_group(part) for part in _without_ranges(_runes(text)).split("||"))


def _runes(text: str) -> str:
    """The text with the replacement character for what is no UTF-8."""
    return "".join(REPLACEMENT if "\ud800" <= char <= "\udfff" else char for char in text)


def _without_ranges(text: str) -> str:
    """Write `1.2 - 3.4` as two comparisons."""
    rewritten = text
    for match in compile_go(_RANGE).finditer(text):
        rewritten = rewritten.replace(match.group(), f">= {match.group(1)}, <= {match.group(6)} ", 1)
    return rewritten


def _group(text: str) -> tuple[_Constraint, ...]:
    if compile_go(_GROUP).search(text) is None:
        raise InvalidConstraint(f"improper constraint: {text}")
    return tuple(_constraint(match.group()) for match in compile_go(_CONSTRAINT_IN_GROUP).finditer(text))


def _constraint(text: str) -> _Constraint:
    match = compile_go(_CONSTRAINT).search(text)
    if match is None:
        raise InvalidConstraint(f"improper constraint: {text}")
    operator, written, major, minor, patch, prerelease = (part or "" for part in match.groups())
    try:
        if major in _ANYTHING:
            return _Constraint(operator, parse(f"0.0.0{prerelease}"), True)
        if minor[1:] in _ANYTHING:
            return _Constraint(operator, parse(f"{major}.0.0{prerelease}"), True, open_minor=True)
        if patch[1:] in _ANYTHING:
            return _Constraint(operator, parse(f"{major}{minor}.0{prerelease}"), True, open_patch=True)
        return _Constraint(operator, parse(written))
    except InvalidVersion:
        raise InvalidConstraint("constraint parser error") from None


def _is_different(version: Version, constraint: _Constraint) -> bool:
    bound = constraint.version
    if not constraint.dirty:
        return compare(version, bound) != 0
    if bound.major != version.major:
        return True
    if constraint.open_minor:
        return False
    if bound.minor != version.minor:
        return True
    if constraint.open_patch:
        return compare_prereleases(version.prerelease, bound.prerelease) != 0
    return bound.patch != version.patch or compare(version, bound) != 0


def _is_greater(version: Version, constraint: _Constraint) -> bool:
    bound = constraint.version
    if constraint.dirty and version.major != bound.major:
        return version.major > bound.major
    if constraint.open_minor:
        return False
    if constraint.open_patch:
        return version.minor > bound.minor
    return compare(version, bound) > 0


def _is_less(version: Version, constraint: _Constraint) -> bool:
    return compare(version, constraint.version) < 0


def _is_greater_or_equal(version: Version, constraint: _Constraint) -> bool:
    return compare(version, constraint.version) >= 0


def _is_less_or_equal(version: Version, constraint: _Constraint) -> bool:
    bound = constraint.version
    if not constraint.dirty:
        return compare(version, bound) <= 0
    if version.major != bound.major:
        return version.major < bound.major
    return version.minor <= bound.minor or constraint.open_minor


def _is_about(version: Version, constraint: _Constraint) -> bool:
    """~1.2.3: the same minor version, or, where that is open, the same major one."""
    bound = constraint.version
    if compare(version, bound) < 0:
        return False
    if bound[:3] == (0, 0, 0) and not constraint.open_minor and not constraint.open_patch:
        return True
    return version.major == bound.major and (version.minor == bound.minor or constraint.open_minor)


def _is_equal(version: Version, constraint: _Constraint) -> bool:
    if constraint.dirty:
        return _is_about(version, constraint)
    return compare(version, constraint.version) == 0


def _is_compatible(version: Version, constraint: _Constraint) -> bool:
    """^1.2.3: the same leading number that is not zero."""
    bound = constraint.version
    if compare(version, bound) < 0:
        return False
    if bound.major > 0 or constraint.open_minor:
        return version.major == bound.major
    if version.major > 0:
        return False
    if bound.minor > 0 or constraint.open_patch:
        return version.minor == bound.minor
    return version.minor == 0 and version.patch == bound.patch


_CHECKS: dict[str, Callable[[Version, _Constraint], bool]] = {
    "": _is_equal,
    "=": _is_equal,
    "!=": _is_different,
    ">": _is_greater,
    "<": _is_less,
    ">=": _is_greater_or_equal,
    "=>": _is_greater_or_equal,
    "<=": _is_less_or_equal,
    "=<": _is_less_or_equal,
    "~": _is_about,
    "~>": _is_about,
    "^": _is_compatible,
}
