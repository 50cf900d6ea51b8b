"""The package metadata of a project: the objects that describe its Configuration and its Functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crossply.kinds.project import XPKG, Project
from crossply.values import Object

_META = "meta.pkg.crossplane.io/v1"
_ANNOTATIONS = "meta.crossplane.io/"


def configuration_meta(project: Project, functions: Iterable[tuple[str, str]]) -> Object:
    """The Configuration of a project. It depends on its own functions, by their names and digests."""
    texts = {name: project.spec.get(name, "") for name in (*_EVERYWHERE, "description", "readme")}
    constraint = (project.spec.get("crossplane") or {}).get("version") or project.any_crossplane
    own = [_own_dependency(project, name, digest) for name, digest in functions]
    return {
        "apiVersion": _META,
        "kind": "Configuration",
        "metadata": _metadata(project, project.name, texts),
        "spec": {
            **({"crossplane": {"version": constraint}} if constraint else {}),
            "dependsOn": [*_others(project), *own],
        },
    }


def function_meta(project: Project, name: str) -> Object:
    """One function of a project."""
    described = f"Function {name} from project {project.name}"
    texts = {**{field: project.spec.get(field, "") for field in _EVERYWHERE}, "description": described}
    return {
        "apiVersion": _META,
        "kind": "Function",
        "metadata": _metadata(project, f"{project.name}-{name}", texts),
        "spec": {"capabilities": ["composition", "operation"]},
    }


_EVERYWHERE = ("maintainer", "source", "license")


def _metadata(project: Project, name: str, texts: Mapping[str, str]) -> Object:
    annotations = {f"{_ANNOTATIONS}{field}": text for field, text in texts.items()}
    own_annotations = project.metadata.get("annotations") or {}
    return {**project.metadata, "name": name, "annotations": {**own_annotations, **annotations}}


def _others(project: Project) -> list[Object]:
    """The runtime dependencies."""
    fields = ("apiVersion", "kind", "package", "version")
    packages = [entry[XPKG] for entry in project.dependencies if entry["type"] == XPKG and entry.get(XPKG)]
    return [{field: entry[field] for field in fields} for entry in packages if not entry.get("apiOnly")]


def _own_dependency(project: Project, name: str, digest: str) -> Object:
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "package": project.function_repository(name),
        "version": digest,
    }
