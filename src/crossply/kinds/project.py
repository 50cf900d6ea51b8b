"""A Project (crossplane-project.yaml): what is developed together, and where its parts lie."""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from crossply.kinds.fields import KindError
from crossply.kinds.gostructs import BOOL, STRING, DecodeError, Field, GoType, list_of, round_trip, struct
from crossply.values import Object

API_VERSION = "dev.crossplane.io/v1alpha1"
KIND = "Project"
XPKG = "xpkg"
_PLACES = ("apis", "functions", "examples", "tests", "operations", "schemas")
_SOURCES = ("xpkg", "git", "http", "k8s")


class ProjectError(KindError):
    """A project file cannot be read, or does not say what it must."""

    code = "CP-419"
    hint = "compare it with a project that `crossplane project init` makes"


class Project(NamedTuple):
    """What the commands need to know of a project."""

    name: str
    repository: str
    apis: str
    """The directory of definitions and Compositions, below the project's own."""
    packages: tuple[str, ...]
    """The packages it depends on, without their versions."""
    functions: str = "functions"
    """The directory of the functions it has of its own."""
    schemas: str = "schemas"
    """The directory of the models that are generated for its functions."""
    languages: tuple[str, ...] = ()
    """The languages that models are wanted in; empty for all."""
    dependencies: tuple[Object, ...] = ()
    """What it depends on: packages, and CRDs from elsewhere."""


def parse_project(value: Object) -> Project:
    """Read a project, and make sure that it is one."""
    head = _decoded(value, _HEAD)
    for key, name, wanted in (("apiVersion", "apiVersion", API_VERSION), ("kind", "kind", KIND)):
        if head.get(key, "") != wanted:
            raise ProjectError(f'unsupported project {name} "{head.get(key, "")}", expected "{wanted}"')
    typed = _decoded(value, _PROJECT)
    problems = _problems(typed)
    if problems:
        raise ProjectError("invalid project file: " + "\n".join(problems))
    spec = typed["spec"]
    dependencies = tuple(spec.get("dependencies") or ())
    packages = [entry.get(XPKG) or {} for entry in dependencies if entry["type"] == XPKG]
    paths = spec.get("paths") or {}
    return Project(
        name=typed["metadata"]["name"],
        repository=spec["repository"],
        apis=paths.get("apis") or "apis",
        packages=tuple(entry["package"] for entry in packages if entry),
        functions=paths.get("functions") or "functions",
        schemas=paths.get("schemas") or "schemas",
        languages=tuple((spec.get("schemas") or {}).get("languages") or ()),
        dependencies=dependencies,
    )


def _decoded(value: Object, go_type: GoType) -> Object:
    try:
        found: Object = round_trip(value, go_type)
    except DecodeError as problem:
        cause = "error unmarshaling JSON: while decoding JSON"
        raise ProjectError(f"failed to parse project file: {cause}: {problem}") from None
    return found


def _problems(project: Object) -> list[str]:
    found = [] if (project.get("metadata") or {}).get("name") else ["name must not be empty"]
    spec = project["spec"]
    if not spec["repository"]:
        found.append("repository must not be empty")
    paths = spec.get("paths") or {}
    found += [f"{place} path must be relative" for place in _PLACES if posixpath.isabs(paths.get(place, ""))]
    for index, dependency in enumerate(spec.get("dependencies") or []):
        wrong = _wrong_in(dependency)
        if wrong:
            found.append(f"dependency {index}: " + "\n".join(wrong))
    return found


def _wrong_in(dependency: Object) -> list[str]:
    found = [] if dependency["type"] else ["type must not be empty"]
    given = [source for source in _SOURCES if dependency.get(source) is not None]
    for source in given:
        empty = [name for name in _REQUIRED[source] if not dependency[source][name]]
        if empty:
            found.append(f"{source}: " + "\n".join(f"{name} must not be empty" for name in empty))
    if len(given) != 1:
        found.append("exactly one source (xpkg, git, http, or k8s) must be specified")
    return found


_REQUIRED = {
    "xpkg": ("apiVersion", "kind", "package", "version"),
    "git": ("repository",),
    "http": ("url",),
    "k8s": ("version",),
}


_TEXT = Field(STRING)


def _source(name: str, required: tuple[str, ...], **optional: Field) -> Field:
    fields = {key: Field(STRING, optional=False) for key in required}
    return Field(struct(name, {**fields, **optional}, "v1alpha1"), pointer=True)


_HEAD = struct("TypeMeta", {"apiVersion": _TEXT, "kind": _TEXT})
_PATHS = struct("ProjectPaths", dict.fromkeys(_PLACES, _TEXT), "v1alpha1")
_DEPENDENCY = struct(
    "Dependency",
    {
        "type": Field(STRING, optional=False),
        "xpkg": _source("XpkgDependency", _REQUIRED["xpkg"], apiOnly=Field(BOOL)),
        "git": _source("GitDependency", _REQUIRED["git"], ref=_TEXT, path=_TEXT),
        "http": _source("HTTPDependency", _REQUIRED["http"]),
        "k8s": _source("K8sDependency", _REQUIRED["k8s"]),
    },
    "v1alpha1",
)
_SPEC = struct(
    "ProjectSpec",
    {
        "repository": Field(STRING, optional=False),
        "paths": Field(_PATHS, pointer=True),
        "dependencies": Field(list_of(_DEPENDENCY)),
        "architectures": Field(list_of(STRING)),
        "schemas": Field(
            struct("ProjectSchemas", {"languages": Field(list_of(STRING))}, "v1alpha1"), pointer=True
        ),
    },
    "v1alpha1",
)
_PROJECT = struct(
    "Project",
    {
        "metadata": Field(struct("ObjectMeta", {"name": Field(STRING, optional=False)}), optional=False),
        "spec": Field(_SPEC, optional=False),
    },
    "v1alpha1",
)
