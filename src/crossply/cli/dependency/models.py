"""Models of the kinds that a project depends on: Python dataclasses, and JSON Schemas for editors."""

from __future__ import annotations

import os

from crossply.kinds.project import Project
from crossply.manifests.output_files import remove_folder, replace_folder
from crossply.project.dependency_entries import ProjectDependencyError
from crossply.project.folder import ProjectFolder
from crossply.values import Object

LANGUAGES = ("python", "json")


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


def left_out(project: Project) -> list[str]:
    """The unsupported languages of a project."""
    return [language for language in project.languages if language not in LANGUAGES]


def schema_files(project: Project, crds: list[Object]) -> dict[str, dict[str, str]]:
    """Model files by name, for each language of the project."""
    languages = [language for language in LANGUAGES if language in (project.languages or LANGUAGES)]
    return {language: _FILES[language](crds) for language in languages}


def write_schemas(folder: ProjectFolder, files_by_language: dict[str, dict[str, str]]) -> list[str]:
    """Write models in place of those that were there; the folders they are in."""
    written = []
    for language in LANGUAGES:
        path = os.path.join(schemas_path(folder), language)
        replace_folder(path, files_by_language.get(language) or {}, "cannot write models")
        if files_by_language.get(language):
            written.append(os.path.relpath(path, folder.root))
    return written


def remove_schemas(folder: ProjectFolder) -> None:
    """Remove all models of a project."""
    remove_folder(schemas_path(folder), "cannot remove models")


def _python(crds: list[Object]) -> dict[str, str]:
    from crossply.scaffold.kind_models import models_in
    from crossply.scaffold.python_model_code import package_files

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


_FILES = {"python": _python, "json": _json}
