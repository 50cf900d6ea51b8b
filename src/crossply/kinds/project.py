"""A Project (crossplane-project.yaml, upbound.yaml): its directories, functions and dependencies."""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

from crossply.kinds import upbound_project
from crossply.kinds.fields import KindError
from crossply.kinds.gostructs import (
    BOOL,
    STRING,
    DecodeError,
    Field,
    GoType,
    list_of,
    map_of,
    round_trip,
    struct,
)
from crossply.values import Object

API_VERSION = "dev.crossplane.io/v1alpha1"
KIND = "Project"
ANY_OF_V2 = ">=v2.0.0-rc.0"
XPKG = "xpkg"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
"""What objects may be called. Packages are written to files of this name."""
_PLACES = ("apis", "functions", "examples", "tests", "operations", "schemas")
_SOURCES = ("xpkg", "git", "http", "k8s")
_ARCHITECTURES = ("amd64", "arm64")
DIRECTORY, TARBALL = "Directory", "Tarball"


class ProjectError(KindError):
    """A project file cannot be read, or is invalid."""

    code = "CP-419"
    hint = "compare it with a project that `crossply project init` creates"


class EmbeddedFunction(NamedTuple):
    """A function that belongs to a project."""

    name: str
    tarball: str = ""
    """What the files of its images begin with; without it, it is built of the directory of its name."""


class Project(NamedTuple):
    """A parsed project."""

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
    """The languages to generate models for; empty for all."""
    dependencies: tuple[Object, ...] = ()
    """What it depends on: packages, and CRDs from elsewhere."""
    metadata: Object = {}  # noqa: RUF012  read-only, like every object here
    spec: Object = {}  # noqa: RUF012
    """The whole spec, as its Go type holds it; one of `up` is translated."""
    is_upbound: bool = False
    """Whether it was written as an upbound.yaml, whose file lists dependencies elsewhere."""
    any_crossplane: str = ANY_OF_V2
    """The constraint on Crossplane's version that a project has which says nothing of it; may be empty."""

    def path(self, place: str) -> str:
        """The directory of one kind of parts, below the project's own: apis, examples, operations …"""
        return _path(self.spec, place)

    def models_folder(self, language: str) -> str:
        """Where the package of models in a language is, below the project's own directory."""
        inner = "" if language == "kcl" and not self.is_upbound else "models"
        return posixpath.join(self.schemas, language, inner).rstrip("/")

    @property
    def architectures(self) -> tuple[str, ...]:
        """What its functions are built for."""
        return tuple(self.spec.get("architectures") or _ARCHITECTURES)

    @property
    def listed_functions(self) -> tuple[EmbeddedFunction, ...]:
        """Its functions where it lists them; else each directory among its functions is one."""
        return tuple(
            EmbeddedFunction(entry["directory"]["name"])
            if entry["source"] == DIRECTORY
            else EmbeddedFunction(entry["tarball"]["name"], entry["tarball"]["pathPrefix"])
            for entry in self.spec.get("functions") or ()
        )

    def function_repository(self, name: str) -> str:
        """Where the package of one of its functions is."""
        return f"{self.repository}_{name}"


def parse_project(value: Object) -> Project:
    """Read a project, and make sure that it is one."""
    head = _decoded(value, _HEAD)
    api_version = head.get("apiVersion", "")
    is_upbound = api_version in upbound_project.API_VERSIONS
    if api_version != API_VERSION and not is_upbound:
        raise ProjectError(
            f'unsupported project apiVersion "{api_version}", expected "{API_VERSION}"',
            hint=f"an upbound.yaml is read as well: {' or '.join(upbound_project.API_VERSIONS)}",
        )
    if head.get("kind", "") != KIND:
        raise ProjectError(f'unsupported project kind "{head.get("kind", "")}", expected "{KIND}"')
    typed, problems = _of_upbound(value) if is_upbound else (_decoded(value, _PROJECT), [])
    problems += _problems(typed)
    if problems:
        raise ProjectError("invalid project file: " + "\n".join(problems))
    spec = typed["spec"]
    dependencies = tuple(spec.get("dependencies") or ())
    packages = [entry.get(XPKG) or {} for entry in dependencies if entry["type"] == XPKG]
    return Project(
        name=typed["metadata"]["name"],
        repository=spec["repository"],
        apis=_path(spec, "apis"),
        packages=tuple(entry["package"] for entry in packages if entry),
        functions=_path(spec, "functions"),
        schemas=_path(spec, "schemas"),
        languages=tuple((spec.get("schemas") or {}).get("languages") or ()),
        dependencies=dependencies,
        metadata=typed["metadata"],
        spec=spec,
        is_upbound=is_upbound,
        any_crossplane="" if api_version == upbound_project.API_VERSIONS[0] else ANY_OF_V2,
    )


def _of_upbound(value: Object) -> tuple[Object, list[str]]:
    """The project in the spelling of Crossplane, and what is wrong with the original."""
    return upbound_project.translated(_decoded(value, _UPBOUND_PROJECT))


def _path(spec: Object, place: str) -> str:
    return str((spec.get("paths") or {}).get(place) or place)


def _decoded(value: Object, go_type: GoType) -> Object:
    try:
        decoded: Object = round_trip(value, go_type)
    except DecodeError as problem:
        cause = "error unmarshaling JSON: while decoding JSON"
        raise ProjectError(f"failed to parse project file: {cause}: {problem}") from None
    return decoded


def _problems(project: Object) -> list[str]:
    name = (project.get("metadata") or {}).get("name")
    problems = [] if name else ["name must not be empty"]
    if name and not _NAME.fullmatch(name):
        problems.append("name must consist of lower case letters, digits, - and .")
    spec = project["spec"]
    if not spec["repository"]:
        problems.append("repository must not be empty")
    paths = spec.get("paths") or {}
    problems += [
        f"{place} path must be relative" for place in _PLACES if posixpath.isabs(paths.get(place, ""))
    ]
    for index, dependency in enumerate(spec.get("dependencies") or []):
        wrong = _wrong_in(dependency)
        if wrong:
            problems.append(f"dependency {index}: " + "\n".join(wrong))
    for index, function in enumerate(spec.get("functions") or []):
        problem = _wrong_in_function(function)
        if problem:
            problems.append(f"function {index}: {problem}")
    return problems + _twice(spec.get("functions") or [])


def _twice(functions: list[Object]) -> list[str]:
    """What is wrong with names that several functions have."""
    names = [
        (function.get("directory") or function.get("tarball") or {}).get("name") for function in functions
    ]
    several = sorted({name for name in names if name and names.count(name) > 1})
    return [f'several functions are called "{name}"' for name in several]


def _wrong_in_function(function: Object) -> str:
    needed = {DIRECTORY: ("directory", ("name",)), TARBALL: ("tarball", ("name", "pathPrefix"))}
    if function["source"] not in needed:
        return f'source must be {DIRECTORY} or {TARBALL}, not "{function["source"]}"'
    section, names = needed[function["source"]]
    source = function.get(section) or {}
    empty = [f"{section}.{name}" for name in names if not source.get(name)]
    if empty:
        return f"{' and '.join(empty)} must not be empty"
    return "its name must not have a slash" if "/" in source["name"] else ""


def _wrong_in(dependency: Object) -> list[str]:
    problems = [] if dependency["type"] else ["type must not be empty"]
    sources = [source for source in _SOURCES if dependency.get(source) is not None]
    for source in sources:
        empty = [name for name in _REQUIRED[source] if not dependency[source][name]]
        if empty:
            problems.append(f"{source}: " + "\n".join(f"{name} must not be empty" for name in empty))
    if len(sources) != 1:
        problems.append("exactly one source (xpkg, git, http, or k8s) must be specified")
    return problems


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
_FUNCTION = struct(
    "Function",
    {
        "source": Field(STRING, optional=False),
        "directory": _source("FunctionDirectory", ("name",)),
        "tarball": _source("FunctionTarball", ("name", "pathPrefix")),
    },
    "v1alpha1",
)
_IMAGE_CONFIG_SPEC = struct(
    "ImageConfigSpec",
    {
        "matchImages": Field(list_of(struct("ImageMatch", {"type": _TEXT, "prefix": _TEXT}))),
        "rewriteImage": Field(struct("ImageRewrite", {"prefix": _TEXT}), pointer=True),
    },
    "v1beta1",
)
_IMAGE_CONFIG = struct(
    "ImageConfig",
    {
        "metadata": Field(struct("ObjectMeta", {"name": _TEXT}), optional=False),
        "spec": Field(_IMAGE_CONFIG_SPEC, optional=False),
    },
    "v1beta1",
)
_CROSSPLANE = struct("CrossplaneConstraints", {"version": _TEXT})
_SPEC = struct(
    "ProjectSpec",
    {
        **dict.fromkeys(("maintainer", "source", "license", "description", "readme"), _TEXT),
        "repository": Field(STRING, optional=False),
        "crossplane": Field(_CROSSPLANE, pointer=True),
        "paths": Field(_PATHS, pointer=True),
        "dependencies": Field(list_of(_DEPENDENCY)),
        "functions": Field(list_of(_FUNCTION)),
        "architectures": Field(list_of(STRING)),
        "schemas": Field(
            struct("ProjectSchemas", {"languages": Field(list_of(STRING))}, "v1alpha1"), pointer=True
        ),
        "imageConfigs": Field(list_of(_IMAGE_CONFIG)),
    },
    "v1alpha1",
)
_TEXTS = Field(map_of(STRING))
_METADATA = struct(
    "ObjectMeta", {"name": Field(STRING, optional=False), "labels": _TEXTS, "annotations": _TEXTS}
)
_PROJECT = struct(
    "Project",
    {"metadata": Field(_METADATA, optional=False), "spec": Field(_SPEC, optional=False)},
    "v1alpha1",
)
_UPBOUND_PROJECT = upbound_project.go_type(
    {
        "crossplane": _CROSSPLANE,
        "paths": _PATHS,
        "dependency": _DEPENDENCY,
        "imageConfig": _IMAGE_CONFIG_SPEC,
        "metadata": _METADATA,
    }
)
