"""How many packages one package may bring with it: a registry could invent dependencies without end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from crossply.xpkg.dependencies import Dependency, DependencyError, Locked

MAX_DEPENDENCIES = 500
"""Of one package, by its own word."""
MAX_TREE = 500
"""Of a package that no other wants, with all that is below it."""
MAX_DEPTH = 16


def check_number(dependencies: Sequence[Dependency]) -> None:
    """Raise where a package names more dependencies than one may have."""
    if len(dependencies) > MAX_DEPENDENCIES:
        raise DependencyError(
            f"the package names {len(dependencies)} dependencies, but {MAX_DEPENDENCIES} are allowed"
        )


def within_limits(packages: Iterable[Locked]) -> frozenset[str]:
    """The sources that a package, which no other wants, brings with it within the limits."""
    by_source = {package.source: package for package in packages}
    sources = {dependency.source for package in by_source.values() for dependency in package.dependencies}
    allowed: set[str] = set()
    for root in by_source:
        if root not in sources:
            allowed |= _tree(by_source, root)
    return frozenset(allowed)


def _tree(by_source: Mapping[str, Locked], root: str) -> set[str]:
    """What is below a package, down to the greatest depth; nothing where there is too much of it."""
    tree: set[str] = set()
    level = {root}
    for _ in range(MAX_DEPTH):
        packages = [by_source[source] for source in level if source in by_source]
        level = {dependency.source for package in packages for dependency in package.dependencies} - tree
        tree |= level
        if len(tree) > MAX_TREE:
            return set()
    return tree


def limit_error(source: str) -> DependencyError:
    """The error of a dependency beyond the limits."""
    return DependencyError(
        f"{source} is not installed: a package that requires it depends on more than {MAX_TREE} packages, "
        f"or on this one through more than {MAX_DEPTH} others",
        hint="install it by hand if you want it",
    )
