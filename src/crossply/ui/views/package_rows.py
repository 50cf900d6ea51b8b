"""Packages: their state, their revisions, what they depend on, and who uses them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.compose.object_metadata import metadata_of, name_of, text_in
from crossply.ui.object_state_and_row import seconds
from crossply.ui.views.object_health import Health, package_health
from crossply.ui.views.pipeline_picture import called_functions
from crossply.ui.views.short_text import cut, one_line
from crossply.values import Object

MAX_OBJECTS = 200
_KINDS_OF_KINDS = ("CustomResourceDefinition", "ManagedResourceDefinition")


class PackageRow(NamedTuple):
    """One package."""

    kind: str
    name: str
    package: str
    """The image that it is installed from."""
    revision: str
    health: Health
    created: float
    uses: tuple[str, ...]
    """The Compositions that call a Function."""


class PackageRevisionRow(NamedTuple):
    """One revision of a package."""

    name: str
    number: int
    is_active: bool
    image: str
    health: Health
    created: float
    objects: tuple[str, ...]
    """What it installed, as Kind/name."""


class Dependency(NamedTuple):
    """A package that another one needs."""

    package: str
    constraints: str
    kind: str
    installed: str
    """The version that is installed; empty where it is missing."""


def package_rows(packages: Iterable[Object], compositions: Iterable[Object]) -> list[PackageRow]:
    """One row a package, by name; `compositions` are read for the users of a Function."""
    callers: dict[str, list[str]] = {}
    for composition in compositions:
        for function in called_functions(composition):
            callers.setdefault(function, []).append(name_of(composition))
    rows = [package_row(package, callers.get(name_of(package), ())) for package in packages]
    return sorted(rows, key=lambda row: (row.kind, row.name))


def package_row(package: Object, callers: Iterable[str] = ()) -> PackageRow:
    """The row of one package."""
    kind = text_in(package, "kind")
    return PackageRow(
        kind,
        name_of(package),
        cut(text_in(_map(package.get("spec")), "package")),
        text_in(_map(package.get("status")), "currentRevision"),
        package_health(package),
        seconds(metadata_of(package).get("creationTimestamp")),
        tuple(sorted(callers)) if kind == "Function" else (),
    )


def package_revision_rows(revisions: Iterable[Object], package: str) -> list[PackageRevisionRow]:
    """The revisions of a package, newest first."""
    rows = [_revision_row(revision) for revision in revisions if _controller(revision) == package]
    return sorted(rows, key=lambda row: (row.number, row.created), reverse=True)


def _revision_row(revision: Object) -> PackageRevisionRow:
    spec, status = _map(revision.get("spec")), _map(revision.get("status"))
    number = spec.get("revision")
    refs = [_map(ref) for ref in _list(status.get("objectRefs"))[:MAX_OBJECTS]]
    return PackageRevisionRow(
        name_of(revision),
        number if isinstance(number, int) else 0,
        spec.get("desiredState") == "Active",
        cut(text_in(status, "resolvedImage") or text_in(spec, "image")),
        package_health(revision),
        seconds(metadata_of(revision).get("creationTimestamp")),
        tuple(cut(f"{text_in(ref, 'kind')}/{text_in(ref, 'name')}") for ref in refs),
    )


def dependencies_of(lock: Object, revision: str) -> list[Dependency]:
    """What a revision depends on, by the Lock."""
    entries = [_map(entry) for entry in _list(lock.get("packages"))]
    versions = {text_in(entry, "source"): text_in(entry, "version") for entry in entries}
    own = next((entry for entry in entries if revision and entry.get("name") == revision), {})
    dependencies = []
    for entry in map(_map, _list(own.get("dependencies"))):
        source = text_in(entry, "package")
        kind = text_in(entry, "kind") or text_in(entry, "type")
        constraints = one_line(entry.get("constraints") or "", 80)
        dependencies.append(Dependency(cut(source), constraints, cut(kind), cut(versions.get(source, ""))))
    return dependencies


def dependents_of(lock: Object, revision: str) -> list[str]:
    """The revisions that depend on the package of a revision."""
    entries = [_map(entry) for entry in _list(lock.get("packages"))]
    source = next((text_in(entry, "source") for entry in entries if entry.get("name") == revision), "")
    if not source or not revision:
        return []
    return sorted(
        cut(text_in(entry, "name"))
        for entry in entries
        if any(_map(needed).get("package") == source for needed in _list(entry.get("dependencies")))
    )


def installed_groups(revisions: Iterable[Object], package: str) -> set[str]:
    """The API groups of the kinds that a package has installed."""
    return {
        text_in(ref, "name").partition(".")[2]
        for revision in revisions
        if _controller(revision) == package
        for ref in map(_map, _list(_map(revision.get("status")).get("objectRefs")))
        if text_in(ref, "kind") in _KINDS_OF_KINDS
    }


def _controller(revision: Object) -> str:
    for owner in map(_map, _list(metadata_of(revision).get("ownerReferences"))):
        if owner.get("controller") is True:
            return text_in(owner, "name")
    return ""


def _map(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
