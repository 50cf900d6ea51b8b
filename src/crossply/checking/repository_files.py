"""The YAML files of a repository, and the units that they belong to.

A unit is what is installed together: a project, a Configuration package, or the files that somebody named.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossply.checking.finding import Finding, Place, error
from crossply.errors import CrossplyError
from crossply.kinds import PROJECT_FILES
from crossply.manifests.files import SourceError, read_bytes, reason
from crossply.manifests.manifest import Manifest
from crossply.project import file_in
from crossply.project.folder import ProjectFolder, open_project
from crossply.values.endless_files import is_pipe_or_device
from crossply.values.yaml import Document, YamlError, read_documents

PACKAGE_FILE = "crossplane.yaml"
_ENDINGS = (".yaml", ".yml")
_LONGEST_SHOWN = 500
_LEFT_OUT = frozenset({"node_modules", "venv", "__pycache__", "_output"})


class Unit(NamedTuple):
    """Files that are installed together."""

    root: str
    project: ProjectFolder | None
    is_package: bool
    """Whether the root has a Configuration's `crossplane.yaml`."""
    manifests: list[Manifest]
    files: list[str]
    nested: tuple[Manifest, ...] = ()
    """The objects of projects and packages below loose files, which are about them: tests, examples."""

    @property
    def all_manifests(self) -> list[Manifest]:
        """What is known to the unit."""
        return [*self.manifests, *self.nested]

    @property
    def is_complete(self) -> bool:
        """Whether everything that it needs is among its files and dependencies."""
        return self.project is not None or self.is_package


def find_units(paths: Iterable[str]) -> tuple[list[Unit], list[Finding]]:
    """The units that paths belong to, and what cannot be read of them.

    A project or package is read as a whole, also where only a part of it is named: its parts need each other.
    """
    roots, files = _roots_and_files(paths)
    by_unit: dict[str, list[str]] = {}
    findings: list[Finding] = []
    for root in roots:
        for directory, unit, names in _walk(root, findings):
            listed = by_unit.setdefault(unit, [])
            yaml = sorted(name for name in names if name.endswith(_ENDINGS))
            listed += [os.path.normpath(os.path.join(directory, name)) for name in yaml]
    units = _with_nested([_unit(directory, listed, findings) for directory, listed in by_unit.items()])
    if files:
        units.append(Unit(os.curdir, None, False, _read(files, findings), files))
    return units, findings


def _with_nested(units: list[Unit]) -> list[Unit]:
    """The units; loose files know the projects and packages below their directory."""
    return [
        unit
        if unit.is_complete
        else unit._replace(
            nested=tuple(
                manifest
                for other in units
                if other is not unit and is_below(other.root, [unit.root])
                for manifest in other.manifests
            )
        )
        for unit in units
    ]


def _roots_and_files(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """The directories to search, none of them inside another, and the files that belong to none."""
    roots: dict[str, None] = {}
    files: dict[str, None] = {}
    for path in paths:
        if not os.path.exists(path):
            raise SourceError(f"cannot check {path}: no such file or directory", hint="check the path")
        root = _root_above(path) or (path if os.path.isdir(path) else "")
        if not root:
            files[os.path.normpath(path)] = None
        else:
            roots[os.path.normpath(root)] = None
    return [root for root in roots if not any(is_below(root, [other]) for other in roots if other != root)], [
        file for file in files if not is_below(file, roots)
    ]


def _root_above(path: str) -> str:
    """The root of the project or package that a path belongs to; empty if there is none.

    A project counts more than a package in it. The top of a git repository is the end.
    """
    directory = os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path))
    package = None
    while not _is_project(directory):
        package = package or (directory if _has_configuration(directory) else None)
        parent = os.path.dirname(directory)
        if parent == directory or os.path.exists(os.path.join(directory, ".git")):
            directory = package or ""
            break
        directory = parent
    return directory if os.path.isabs(path) or not directory else os.path.relpath(directory)


def is_below(path: str, directories: Iterable[str]) -> bool:
    """Whether a path is one of these, or in one of them."""
    path = os.path.abspath(path)
    for directory in map(os.path.abspath, directories):
        if path == directory or path.startswith(directory.rstrip(os.sep) + os.sep):
            return True
    return False


def _unit(directory: str, files: list[str], findings: list[Finding]) -> Unit:
    project_file = file_in(directory)
    project = None
    if os.path.exists(project_file):
        try:
            project = open_project(project_file)
        except CrossplyError as problem:
            findings.append(error(problem.replace(place=""), Place(os.path.normpath(project_file), 1)))
    return Unit(directory, project, _has_configuration(directory), _read(files, findings), files)


def _read(files: Iterable[str], findings: list[Finding]) -> list[Manifest]:
    manifests: list[Manifest] = []
    for file in files:
        try:
            manifests += _manifests(file)
        except (SourceError, YamlError) as problem:
            findings.append(error(problem, Place(file, 1)))
    return manifests


def _walk(root: str, findings: list[Finding]) -> Iterator[tuple[str, str, list[str]]]:
    """The directories at and below a root, each with its unit and the names of its files."""
    waiting = [(root, root)]
    while waiting:
        directory, unit = waiting.pop()
        if _is_project(directory) or (_has_configuration(directory) and not _is_project(unit)):
            unit = directory
        try:
            names, directories = _listed(directory)
        except OSError as problem:
            failure = SourceError(f"cannot read the directory: {reason(problem)}", hint="check its rights")
            findings.append(error(failure, Place(_shortened(directory), 1)))
            continue
        left_out = _LEFT_OUT | _generated(directory, names)
        waiting += [
            (os.path.join(directory, name), unit)
            for name in sorted(directories, reverse=True)
            if not name.startswith(".") and name not in left_out
        ]
        yield directory, unit, names


def _listed(directory: str) -> tuple[list[str], list[str]]:
    """The names of the files and of the directories in a directory; raises OSError."""
    names, directories = [], []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_file():
                names.append(entry.name)
            elif entry.is_dir(follow_symlinks=False):
                directories.append(entry.name)
    return names, directories


def _shortened(directory: str) -> str:
    """The path of a directory, without the end of one that is too long for the operating system."""
    return directory[:_LONGEST_SHOWN].rpartition(os.sep)[0] if len(directory) > _LONGEST_SHOWN else directory


def _generated(directory: str, names: Iterable[str]) -> frozenset[str]:
    """Directories whose YAML is not what it seems: templates of charts, functions and models of projects."""
    if "Chart.yaml" in names:
        return frozenset({"templates", "charts"})
    if any(name in PROJECT_FILES for name in names):
        try:
            project = open_project(file_in(directory)).project
        except CrossplyError:
            return frozenset()
        return frozenset(os.path.normpath(path) for path in (project.functions, project.schemas))
    return frozenset()


def _is_project(directory: str) -> bool:
    return os.path.exists(file_in(directory))


def _has_configuration(directory: str) -> bool:
    file = os.path.join(directory, PACKAGE_FILE)
    if is_pipe_or_device(file):
        return False
    try:
        manifests = _manifests(file)
    except (SourceError, YamlError):
        return False
    return any(item.group_kind == ("meta.pkg.crossplane.io", "Configuration") for item in manifests)


def _manifests(file: str) -> list[Manifest]:
    documents = read_documents(read_bytes(file, "cannot read file"), file)
    return [manifest for document in documents for manifest in _objects(document)]


def _objects(document: Document) -> list[Manifest]:
    """The objects in a document; one that says no kind is no object, and nobody's business here."""
    value = document.value
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        return []
    if value["kind"] == "List" and isinstance(value.get("items"), list):
        return [
            Manifest(item, document, ("items", index))
            for index, item in enumerate(value["items"])
            if isinstance(item, dict) and isinstance(item.get("kind"), str)
        ]
    return [Manifest(value, document)]
