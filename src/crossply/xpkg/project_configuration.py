"""The Configuration of a project: its definitions, Compositions and operations, described by its own file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from crossply.errors import CrossplyError
from crossply.kinds.generated_package_meta import configuration_meta
from crossply.kinds.project import Project
from crossply.values.goquote import quote
from crossply.values.yaml import dump, read_first
from crossply.xpkg.failures import BuildFailed
from crossply.xpkg.image import EMPTY, Image
from crossply.xpkg.package_build import pack, read_examples, reading
from crossply.xpkg.package_directory import Directory, File, read_directory

_APIS = (
    ("apiextensions.crossplane.io/v1", "CompositeResourceDefinition"),
    ("apiextensions.crossplane.io/v2", "CompositeResourceDefinition"),
    ("apiextensions.crossplane.io/v1", "Composition"),
    ("apiextensions.crossplane.io/v1alpha1", "ManagedResourceActivationPolicy"),
)
_OPERATIONS = tuple(
    ("ops.crossplane.io/v1alpha1", kind) for kind in ("Operation", "WatchOperation", "CronOperation")
)


def place_in(root: str, path: str) -> str:
    """The whole path of a part of a project; a project has no parts outside of it."""
    target = os.path.normpath(os.path.join(root, path))
    # By its name, and also where links lead to.
    for place, base in ((target, root), (os.path.realpath(target), os.path.realpath(root))):
        if place != base and not place.startswith(f"{base.rstrip('/')}/"):
            raise BuildFailed(f"{path} is outside of the project", hint=f"use a path below {root}")
    return target


def collect(project: Project, root: str) -> tuple[File, ...]:
    """The files that get into the Configuration: those that begin with an object of the right kind."""
    apis, operations = place_in(root, project.apis), place_in(root, project.path("operations"))
    files = _collected(apis, _APIS, root, "failed to collect API resources")
    if os.path.isdir(operations):
        files += _collected(operations, _OPERATIONS, root, "failed to collect operation resources")
    return tuple(file for _, file in sorted(files, key=lambda entry: entry[0]))


def _collected(
    directory: str, kinds: Collection[tuple[object, object]], root: str, context: str
) -> list[tuple[list[str], File]]:
    """Files, each with its place in the order of all."""
    try:
        files = read_directory(directory).files
    except OSError as problem:
        reason = (problem.strerror or "unknown error").lower()
        raise BuildFailed(
            f"{context}: open {problem.filename}: {reason}",
            hint="spec.paths in the project file names the directories of its parts",
        ) from None
    collected = []
    for file in files:
        if _type_of(file, context) in kinds:
            inside = os.path.relpath(file.path, directory).split(os.sep)
            collected.append((inside, file._replace(path=os.path.relpath(file.path, root))))
    return collected


def _type_of(file: File, context: str) -> tuple[object, object]:
    """The API version and the kind of the first object in a file."""
    try:
        value = read_first(file.data).value
    except CrossplyError as problem:
        raise problem.replace(place=file.path).within(
            f"{context}: failed to parse file {quote(file.path)}"
        ) from None
    return (value.get("apiVersion"), value.get("kind")) if isinstance(value, dict) else (None, None)


def build_configuration(
    project: Project, root: str, collected: Iterable[File], functions: Iterable[tuple[str, str]]
) -> Image:
    """The image of the Configuration, which depends on functions by their names and digests."""
    meta = File("crossplane.yaml", dump(configuration_meta(project, functions)).encode())
    with reading():
        examples = read_examples(place_in(root, project.path("examples")))
    return pack(Directory((meta, *collected)), examples).onto(EMPTY)
