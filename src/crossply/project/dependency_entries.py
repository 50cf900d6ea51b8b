"""The dependencies in a project file: parsed from the command line and inserted."""

from __future__ import annotations

from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.kinds import upbound_project
from crossply.kinds.project import XPKG
from crossply.project.folder import ProjectFolder
from crossply.values import Object
from crossply.values.yaml import read_documents, read_first
from crossply.values.yaml.text_edit import item_inserted, item_replaced

ANY_VERSION = ">=v0.0.0"
_IDENTITY = {XPKG: "package", "git": "repository", "http": "url", "k8s": ""}
"""By what two dependencies of a kind are the same; of Kubernetes there is only one."""


class ProjectDependencyError(CrossplyError):
    """A dependency of a project cannot be fetched, or is invalid."""

    code = "CP-586"


class Named(NamedTuple):
    """A dependency as named on the command line."""

    package: str
    api_only: bool = False
    git_ref: str = ""
    git_path: str = ""


def entry_of(named: Named) -> Object:
    """The entry for what a user named; that of a package lacks its kind as yet."""
    if named.package.startswith("k8s:") or named.git_ref or named.package.startswith(("http://", "https://")):
        if named.api_only:
            raise ProjectDependencyError("--api-only is only valid for xpkg dependencies")
        return _crds_entry(named)
    if named.git_path:
        raise ProjectDependencyError(
            "--git-path is only valid for git dependencies", hint="say with --git-ref what to take"
        )
    return _package_entry(named)


def _crds_entry(named: Named) -> Object:
    if named.package.startswith("k8s:"):
        version = named.package.removeprefix("k8s:")
        if not version:
            raise ProjectDependencyError("k8s version is required (e.g., k8s:v1.33.0)")
        return {"type": "k8s", "k8s": {"version": version}}
    if not named.git_ref:
        return {"type": "crd", "http": {"url": named.package}}
    if not named.package:
        raise ProjectDependencyError("repository URL is required for git-based CRD dependencies")
    git = {"repository": named.package, "ref": named.git_ref}
    return {"type": "crd", "git": {**git, "path": named.git_path} if named.git_path else git}


def _package_entry(named: Named) -> Object:
    from crossply.xpkg.image_reference import check_digest, parse

    source, at, version = named.package.partition("@")
    if at:
        check_digest(version)
    else:
        # A colon before a slash is that of a port.
        parts = named.package.rpartition(":")
        source, version = (parts[0], parts[2]) if parts[0] and "/" not in parts[2] else (named.package, "")
    parse(source)
    package: Object = {"package": source, "version": version or ANY_VERSION}
    return {"type": XPKG, XPKG: {**package, "apiOnly": True} if named.api_only else package}


def described(entry: Object) -> str:
    """A dependency in a few words."""
    if entry.get(XPKG):
        return f"{entry[XPKG]['package']}:{entry[XPKG]['version']}"
    if entry.get("git"):
        git = entry["git"]
        ref = f" ({git['ref']})" if git.get("ref") else ""
        below = f" at {git['path']}" if git.get("path") else ""
        return f"{git['repository']}{ref}{below}"
    if entry.get("http"):
        return str(entry["http"]["url"])
    return f"Kubernetes API {entry['k8s']['version']}"


def with_dependency(entries: list[Object], entry: Object) -> tuple[list[Object], int]:
    """The list with an entry in it, at the place of what it replaces or last; and that place."""
    for index, other in enumerate(entries):
        if _same(other, entry):
            return [*entries[:index], entry, *entries[index + 1 :]], index
    return [*entries, entry], len(entries)


def _same(left: Object, other: Object) -> bool:
    source = next((source_type for source_type in _IDENTITY if other.get(source_type)), "")
    if left.get("type") != other.get("type") or not left.get(source):
        return False
    key = _IDENTITY[source]
    return not key or left[source].get(key) == other[source].get(key)


def text_with(folder: ProjectFolder, entry: Object) -> str:
    """The text of the project file with a dependency; all else in it stays as it is."""
    if len(read_documents(folder.text)) > 1:
        raise ProjectDependencyError(
            "the project file holds more than a project", hint="put everything else into files of their own"
        )
    project = read_first(folder.text).value
    field = _list_for(folder, entry)
    before = project["spec"].get(field) or []
    is_package_list = field == upbound_project.PACKAGES
    _, index = with_dependency([_package(item) for item in before] if is_package_list else before, entry)
    entries = [*before[:index], entry[XPKG] if is_package_list else entry, *before[index + 1 :]]
    changed = {**project, "spec": {**project["spec"], field: entries}}
    write = item_replaced if len(entries) == len(before) else item_inserted
    return write(folder.text, changed, ("spec", field), index)


def _list_for(folder: ProjectFolder, entry: Object) -> str:
    """The field of the project file that lists such dependencies."""
    if not folder.project.is_upbound:
        return "dependencies"
    if not entry.get(XPKG):
        return upbound_project.APIS
    if entry[XPKG].get("apiOnly"):
        raise ProjectDependencyError(
            f"{folder.file} has no field for a package that is needed for its kinds only",
            hint="add it without --api-only, or name its CRDs: a URL, or a git repository with --git-ref",
        )
    return upbound_project.PACKAGES


def _package(item: Object) -> Object:
    return {"type": XPKG, XPKG: upbound_project.package_entry(item)}
