"""semver and semverCompare."""

from __future__ import annotations

from collections.abc import Callable

from crossply.functions.builtin.go_templating.engine.go_types import Structure, Uint64
from crossply.functions.builtin.go_templating.engine.signatures import Function, FunctionFailed
from crossply.values.semver import InvalidVersion, Version, compare, parse
from crossply.values.semver_constraints import InvalidConstraint, check, satisfies

_POINTER, _STRUCT = "*semver.Version", "semver.Version"


def semver(text: str) -> Structure:
    """Read a version."""
    return _value(_version(text), _POINTER)


def semver_compare(constraint: str, version: str) -> bool:
    """Whether a version satisfies a constraint."""
    try:
        # The error of a malformed constraint comes first.
        check(constraint)
        return satisfies(constraint, _version(version))
    except InvalidConstraint as error:
        raise FunctionFailed(str(error)) from None


def _version(text: str) -> Version:
    try:
        return parse(text)
    except InvalidVersion as error:
        raise FunctionFailed(str(error)) from None


def _value(version: Version, go_type: str) -> Structure:
    """A version as a template sees it: methods, and its text."""

    def compared(test: Callable[[int], bool]) -> Function:
        return Function(lambda other: test(compare(version, other.value)), (_POINTER,))

    def next_version(major: int, minor: int, patch: int) -> Function:
        prefix = "v" if version.original.startswith("v") else ""
        text = f"{prefix}{major}.{minor}.{patch}"
        return Function(lambda: _value(Version(major, minor, patch, "", "", text), _STRUCT))

    major, minor, patch = version.major, version.minor, version.patch
    methods = {
        "Major": Function(lambda: Uint64(major)),
        "Minor": Function(lambda: Uint64(minor)),
        "Patch": Function(lambda: Uint64(patch)),
        "Prerelease": Function(lambda: version.prerelease),
        "Metadata": Function(lambda: version.metadata),
        "String": Function(lambda: str(version)),
        "IncMajor": next_version(major + 1, 0, 0),
        "IncMinor": next_version(major, minor + 1, 0),
        "IncPatch": next_version(major, minor, patch if version.prerelease else patch + 1),
    }
    of_pointer = {
        "Original": Function(lambda: version.original),
        "Compare": Function(lambda other: compare(version, other.value), (_POINTER,)),
        "Equal": compared(lambda order: order == 0),
        "LessThan": compared(lambda order: order < 0),
        "LessThanEqual": compared(lambda order: order <= 0),
        "GreaterThan": compared(lambda order: order > 0),
        "GreaterThanEqual": compared(lambda order: order >= 0),
    }
    if go_type == _POINTER:
        methods |= of_pointer
    return Structure(go_type, {}, methods, lambda: str(version), version)
