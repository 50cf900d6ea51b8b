"""Explains why a package is installed or cannot be: the tree of its dependents with their constraints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.xpkg.dependencies import Dependency, Locked, best_version

_MAX_LINES = 500


class _Branch(NamedTuple):
    """A line that is still to be written."""

    margin: str
    last: bool
    package: Locked
    dependency: Dependency
    path: frozenset[str]


def why(packages: Iterable[Locked], source: str, tags: Iterable[str] = ()) -> list[str]:
    """The lines of a tree from a package up to the packages that nothing depends on.

    A constraint that the installed version does not satisfy is marked. With the tags of the package, the last
    line says which one all dependents accept.
    """
    packages = list(packages)
    wanting: dict[str, list[tuple[Locked, Dependency]]] = {}
    for package in packages:
        for dependency in package.dependencies:
            wanting.setdefault(dependency.source, []).append((package, dependency))
    own = next((package for package in packages if package.source == source), None)
    lines = [own.shown if own else f"{source} (not installed)"]
    lines += _tree(wanting, source, own)
    offered = list(tags)
    return (
        [*lines, _common_version([dependency for _, dependency in wanting.get(source, [])], offered)]
        if offered
        else lines
    )


def _tree(wanting: dict[str, list[tuple[Locked, Dependency]]], source: str, own: Locked | None) -> list[str]:
    lines: list[str] = []
    waiting = _branches(wanting, source, "", frozenset([source]))
    while waiting:
        if len(lines) >= _MAX_LINES:
            return [*lines, "…"]
        branch = waiting.pop()
        lines.append(branch.margin + ("└─ " if branch.last else "├─ ") + _describe(branch, own))
        if branch.package.source not in branch.path:
            margin = branch.margin + ("   " if branch.last else "│  ")
            path = branch.path | {branch.package.source}
            waiting += _branches(wanting, branch.package.source, margin, path)
    return lines


def _branches(
    wanting: dict[str, list[tuple[Locked, Dependency]]], source: str, margin: str, path: frozenset[str]
) -> list[_Branch]:
    """The dependents of a package, last first: they are popped from the end."""
    dependents = wanting.get(source, [])
    branches = [
        _Branch(margin, number == len(dependents), package, dependency, path)
        for number, (package, dependency) in enumerate(dependents, 1)
    ]
    return branches[::-1]


def _describe(branch: _Branch, own: Locked | None) -> str:
    text = f"{branch.dependency.constraint or 'any version'} required by {branch.package.shown}"
    if (
        own is not None
        and branch.dependency.source == own.source
        and not branch.dependency.accepts(own.version)
    ):
        text += f"  ✗ {own.version} is not"
    return text


def _common_version(dependencies: list[Dependency], tags: list[str]) -> str:
    if not dependencies:
        return "no package requires it"
    best = best_version(dependencies, tags)
    if best is not None:
        return f"{best} is what all accept"
    return f"none of the {len(tags)} versions is what all accept"
