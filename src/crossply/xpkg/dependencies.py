"""Dependencies between packages: which are missing, which version to select, and who depends on what.

Works on plain data: the entries of a Lock, and the tags of a registry. A package is identified by its source:
registry and repository without a tag. Nothing here recurses, so that a chain of ten thousand packages does no
harm. How many packages one may bring with it is limited: a registry could invent dependencies without end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from crossply.compose.ready_and_synced_conditions import first_few
from crossply.values import Object
from crossply.values.semver import InvalidVersion, Version, compare, parse
from crossply.values.semver_constraints import InvalidConstraint, compiled, satisfies
from crossply.xpkg.failures import PackagesError
from crossply.xpkg.image_reference import canonical_source

KINDS = ("Provider", "Configuration", "Function")
_PARTS = 3
_MAX_LISTED = 10
MAX_DEPENDENCIES = 500
"""Of one package, by its own word."""
_MAX_TREE = 500
"""Of a package that no other wants, with all that is below it."""
MAX_DEPTH = 16


class DependencyError(PackagesError):
    """Dependencies of packages cannot be met: a cycle, constraints that exclude each other, or no package."""

    code = "CP-930"


class Dependency(NamedTuple):
    """What a package wants: another, of versions that satisfy a constraint, or of one digest."""

    source: str
    constraint: str
    kind: str = ""

    @property
    def digest(self) -> str:
        """The required digest; empty where versions are required."""
        return self.constraint if self.constraint.startswith("sha256:") else ""

    def accepts(self, version: str) -> bool:
        """Whether a version or digest satisfies the constraint."""
        if self.digest:
            return version == self.digest
        try:
            return satisfies(self.constraint, parse(version))
        except (InvalidVersion, InvalidConstraint):
            return False


class Locked(NamedTuple):
    """An installed package with its dependencies."""

    name: str
    source: str
    version: str
    kind: str = ""
    dependencies: tuple[Dependency, ...] = ()

    @property
    def shown(self) -> str:
        """Its source and version."""
        return f"{self.source}@{self.version}"


def dependencies_of(meta: Object) -> tuple[Dependency, ...]:
    """What the object that describes a package says it depends on, in any spelling."""
    return tuple(_dependency(entry) for entry in (meta.get("spec") or {}).get("dependsOn") or ())


def _dependency(entry: Mapping[str, Any]) -> Dependency:
    constraint = str(entry.get("version") or "")
    if entry.get("package"):
        return Dependency(canonical_source(str(entry["package"])), constraint, str(entry.get("kind") or ""))
    for kind in KINDS:
        if entry.get(kind.lower()):
            return Dependency(canonical_source(str(entry[kind.lower()])), constraint, kind)
    raise DependencyError("a dependency names no package", hint="write package, kind, apiVersion and version")


def read_lock(lock: Object) -> list[Locked]:
    """The packages of a Lock."""
    return [_locked(entry) for entry in lock.get("packages") or ()]


def _locked(entry: Mapping[str, Any]) -> Locked:
    dependencies = tuple(
        Dependency(
            str(dependency.get("package") or ""),
            str(dependency.get("constraints") or ""),
            str(dependency.get("kind") or dependency.get("type") or ""),
        )
        for dependency in entry.get("dependencies") or ()
    )
    kind = str(entry.get("kind") or entry.get("type") or "")
    return Locked(
        str(entry.get("name") or ""),
        str(entry.get("source") or ""),
        str(entry.get("version") or ""),
        kind,
        dependencies,
    )


def missing(packages: Iterable[Locked]) -> list[Dependency]:
    """Dependencies that are not installed, each source once, in order."""
    packages = list(packages)
    present = {package.source for package in packages}
    absent: dict[str, Dependency] = {}
    for package in packages:
        for dependency in package.dependencies:
            if dependency.source not in present:
                absent.setdefault(dependency.source, dependency)
    return list(absent.values())


def below(packages: Iterable[Locked], source: str) -> list[str]:
    """The sources of all that a package needs, and what that needs, whether it is installed or not."""
    by_source = {package.source: package for package in packages}
    sources: dict[str, None] = {}
    waiting = [source]
    while waiting:
        package = by_source.get(waiting.pop())
        for dependency in reversed(package.dependencies if package else ()):
            if dependency.source not in sources and dependency.source != source:
                sources[dependency.source] = None
                waiting.append(dependency.source)
    return list(sources)


def check_no_circle(packages: Iterable[Locked]) -> None:
    """Raise where packages depend on each other in a circle."""
    by_source = {package.source: package for package in packages}
    done: set[str] = set()
    for start in by_source:
        if start not in done:
            _walk(by_source, start, done)


def _walk(by_source: Mapping[str, Locked], start: str, done: set[str]) -> None:
    """Follow all paths from a package; one that returns to it is a cycle."""
    path = [start]
    upon = {start}
    ahead = [iter(_dependency_sources(by_source, start))]
    while path:
        for source in ahead[-1]:
            if source in upon:
                circle = " → ".join([*path[path.index(source) :], source])
                raise DependencyError(f"cannot sort DAG: detected cycle on: {source}", hint=circle[:2000])
            if source not in done:
                path.append(source)
                upon.add(source)
                ahead.append(iter(_dependency_sources(by_source, source)))
                break
        else:
            done.add(path[-1])
            upon.discard(path.pop())
            ahead.pop()


def _dependency_sources(by_source: Mapping[str, Locked], source: str) -> list[str]:
    package = by_source.get(source)
    return [dependency.source for dependency in package.dependencies] if package else []


def missing_error(absent: Iterable[Dependency]) -> DependencyError:
    """The error for dependencies that are not installed."""
    listed = first_few(f'"{dependency.source}" ({dependency.constraint})' for dependency in absent)
    return DependencyError(f"missing dependencies: {listed}")


def unmet_error(wrong: Sequence[tuple[Dependency, Locked]]) -> DependencyError:
    """The error for dependencies that are installed in other versions only."""
    lines = [
        f"existing package {package.shown} is incompatible with constraint {dependency.constraint}"
        for dependency, package in wrong[:_MAX_LISTED]
    ]
    lines += [f"and {len(wrong) - _MAX_LISTED} more"] if len(wrong) > _MAX_LISTED else []
    return DependencyError(f"incompatible dependencies: {'; '.join(lines)}")


def unmet(packages: Iterable[Locked], package: Locked) -> list[tuple[Dependency, Locked]]:
    """What a package wants and finds in other versions only. Of a source several may be there."""
    by_source: dict[str, list[Locked]] = {}
    for locked in packages:
        by_source.setdefault(locked.source, []).append(locked)
    return [
        (dependency, by_source[dependency.source][-1])
        for dependency in package.dependencies
        if dependency.source in by_source
        and not any(dependency.accepts(candidate.version) for candidate in by_source[dependency.source])
    ]


def best_version(dependencies: Iterable[Dependency], tags: Iterable[str]) -> str | None:
    """The highest tag that all dependents accept, or the digest that they name; None if there is none."""
    listed = list(dependencies)
    accepted = [_compiled(dependency) for dependency in listed if not dependency.digest]
    digests = {dependency.digest for dependency in listed}
    if digests != {""}:
        return digests.pop() if len(digests) == 1 else None
    best: tuple[Version, str] | None = None
    for tag in tags:
        version = _complete(tag)
        if version is None or not all(accepts(version) for accepts in accepted):
            continue
        if best is None or compare(version, best[0]) > 0:
            best = version, tag
    return best[1] if best else None


def _compiled(dependency: Dependency) -> Callable[[Version], bool]:
    """The constraint of a dependency, parsed once for all the versions that are checked."""
    try:
        return compiled(dependency.constraint)
    except InvalidConstraint as problem:
        raise DependencyError(f"invalid constraint for {dependency.source}: {problem}") from None


def _complete(tag: str) -> Version | None:
    """The version of a tag with all its parts; `v1` moves, and is none."""
    try:
        version = parse(tag)
    except InvalidVersion:
        return None
    return version if tag.partition("-")[0].partition("+")[0].count(".") == _PARTS - 1 else None


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
        if len(tree) > _MAX_TREE:
            return set()
    return tree


def limit_error(source: str) -> DependencyError:
    """The error of a dependency beyond the limits."""
    return DependencyError(
        f"{source} is not installed: a package that requires it depends on more than {_MAX_TREE} packages, "
        f"or on this one through more than {MAX_DEPTH} others",
        hint="install it by hand if you want it",
    )
