"""Models of the kinds that a project has and depends on: in Python, in KCL, and JSON Schemas for editors.

Those of dependencies are written when these are fetched. Those of the project's own kinds are written again
whenever a program that imports them runs, so that they are never older than the definitions.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from crossply.kinds.project import Project
from crossply.manifests.file_io import (
    check_no_links,
    make_directory,
    remove_folder,
    replace_folder,
    write_file,
)
from crossply.project.dependency_entries import ProjectDependencyError
from crossply.project.folder import ProjectFolder
from crossply.values import Object

LANGUAGES = ("python", "json", "kcl")
_FAILURE = "cannot write models"


def schemas_path(folder: ProjectFolder) -> str:
    """Where the models of a project are."""
    path = os.path.normpath(os.path.join(folder.root, folder.project.schemas))
    inside = path.startswith(folder.root.rstrip("/") + "/")
    # What is there is replaced: a link must not have us remove a folder elsewhere.
    if not inside or not os.path.realpath(path).startswith(os.path.realpath(folder.root).rstrip("/") + "/"):
        raise ProjectDependencyError(
            f'schemas path "{folder.project.schemas}" is not below the project',
            hint="set spec.paths.schemas to a folder of the project",
        )
    return path


def _prefix(project: Project, language: str) -> str:
    """Where the package of models is, below the folder of a language."""
    inner = os.path.relpath(project.models_folder(language), os.path.join(project.schemas, language))
    return "" if inner == os.curdir else f"{inner}/"


def left_out(project: Project) -> list[str]:
    """The unsupported languages of a project."""
    return [language for language in project.languages if language not in LANGUAGES]


def without_kubernetes(project: Project) -> list[str]:
    """The languages of a project that have no models of the kinds of Kubernetes itself, if it wants these."""
    if not _uses_kubernetes(project):
        return []
    lacking = ("json",) if project.is_upbound else ("python", "json")
    return [language for language in project.languages or LANGUAGES if language in lacking]


def schema_files(folder: ProjectFolder, crds: list[Object]) -> dict[str, dict[str, str]]:
    """Model files by name, for each language of the project; `crds` are those of its dependencies."""
    chosen = folder.project.languages or LANGUAGES
    files: dict[str, dict[str, str]] = {}
    if "python" in chosen:
        files["python"] = _pydantic(folder, crds) if folder.project.is_upbound else _python(crds)
    if "json" in chosen:
        files["json"] = _json(crds)
    if "kcl" in chosen:
        files["kcl"] = _kcl(folder, crds)
    return files


def write_schemas(folder: ProjectFolder, files_by_language: Mapping[str, dict[str, str]]) -> list[str]:
    """Write models in place of those that were there; the folders they are in."""
    written = []
    for language in LANGUAGES:
        path = os.path.join(schemas_path(folder), language)
        replace_folder(path, files_by_language.get(language) or {}, _FAILURE)
        if files_by_language.get(language):
            written.append(os.path.relpath(path, folder.root))
    return written


def remove_schemas(folder: ProjectFolder) -> None:
    """Remove all models of a project."""
    remove_folder(schemas_path(folder), "cannot remove models")


def own_definitions(folder: ProjectFolder) -> list[str]:
    """The names of the definitions of a project."""
    from crossply.project.remote_crds import definitions_in

    path = os.path.join(folder.root, folder.project.apis)
    manifests = definitions_in(path) if os.path.isdir(path) else []
    definitions = [
        item.value for item in manifests if item.value.get("kind") == "CompositeResourceDefinition"
    ]
    return [str((definition.get("metadata") or {}).get("name")) for definition in definitions]


def own_crds(folder: ProjectFolder) -> list[Object]:
    """The CRDs of the kinds that a project defines."""
    from crossply.project.remote_crds import definitions_in
    from crossply.validation.extension_schemas import Extensions, complete

    path = os.path.join(folder.root, folder.project.apis)
    if not os.path.isdir(path):
        return []
    extensions = Extensions()
    extensions.add(definitions_in(path))
    return [complete(crd) for crd in extensions.crds]


def refresh_own_models(folder: ProjectFolder, language: str) -> str:
    """Have the models of the project's own kinds, and of tests, be those of today; their package."""
    files = _own_kcl(folder) if language == "kcl" else _own_pydantic(folder)
    for name, text in files.items():
        path = os.path.join(schemas_path(folder), language, name)
        if _content(path) != text.encode():
            check_no_links(schemas_path(folder), path, _FAILURE)
            make_directory(os.path.dirname(path), _FAILURE)
            write_file(path, text, _FAILURE)
    return os.path.normpath(os.path.join(folder.root, folder.project.models_folder(language)))


def _own_kcl(folder: ProjectFolder) -> dict[str, str]:
    from crossply.models.kcl_models import package_files
    from crossply.models.upbound_kinds import TEST_KINDS

    files = package_files([*own_crds(folder), *TEST_KINDS])
    return {f"{_prefix(folder.project, 'kcl')}{name}": text for name, text in files.items()}


def _own_pydantic(folder: ProjectFolder) -> dict[str, str]:
    from crossply.models.pydantic_kubernetes_models import metadata_files
    from crossply.models.pydantic_models import MODULE, package_files
    from crossply.models.upbound_kinds import TEST_KINDS

    files = {**package_files([*own_crds(folder), *TEST_KINDS]), **metadata_files()}
    return {**{f"models/{name}": text for name, text in files.items()}, "pyproject.toml": MODULE}


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _python(crds: list[Object]) -> dict[str, str]:
    from crossply.models.dataclass_models import package_files
    from crossply.models.structural_schema_classes import models_in

    used_names: dict[tuple[str, str], set[str]] = {}
    kinds = [kind for crd in crds for kind in models_in(crd, used_names)]
    files = package_files(kinds, "the dependencies of the project") if kinds else {}
    return {f"models/{name}": text for name, text in files.items()}


def _json(crds: list[Object]) -> dict[str, str]:
    from crossply.schema.crd_jsonschema import json_schemas, to_text
    from crossply.validation.extension_schemas import with_schemas

    files = {}
    for crd in crds:
        for json_schema in json_schemas(with_schemas(crd)):
            # Names come from packages: one such as ../../x must not lead out of the directory.
            name = json_schema.file_name.replace("/", "_").removesuffix(".json")
            files[f"models/{name}.schema.json"] = f"{to_text(json_schema.schema)}\n"
    if files:
        index: Object = {"oneOf": [{"$ref": name} for name in sorted(files)]}
        files["index.schema.json"] = f"{to_text(index)}\n"
    return files


def _kcl(folder: ProjectFolder, crds: list[Object]) -> dict[str, str]:
    from crossply.models.kcl_kubernetes_models import kubernetes_files
    from crossply.models.kcl_models import package_files
    from crossply.validation.extension_schemas import with_schemas

    kubernetes = kubernetes_files() if _uses_kubernetes(folder.project) else {}
    if not crds and not own_crds(folder) and not kubernetes:
        return {}
    files = {**package_files(map(with_schemas, crds)), **kubernetes}
    prefix = _prefix(folder.project, "kcl")
    return {**{f"{prefix}{name}": text for name, text in files.items()}, **_own_kcl(folder)}


def _pydantic(folder: ProjectFolder, crds: list[Object]) -> dict[str, str]:
    """The classes that programs of `up` projects import."""
    from crossply.models.pydantic_kubernetes_models import kubernetes_files
    from crossply.models.pydantic_models import package_files
    from crossply.validation.extension_schemas import with_schemas

    kubernetes = kubernetes_files() if _uses_kubernetes(folder.project) else {}
    if not crds and not own_crds(folder) and not kubernetes:
        return {}
    files = {**package_files(map(with_schemas, crds)), **kubernetes}
    return {**{f"models/{name}": text for name, text in files.items()}, **_own_pydantic(folder)}


def _uses_kubernetes(project: Project) -> bool:
    return any(entry.get("k8s") for entry in project.dependencies)
