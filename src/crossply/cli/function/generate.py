"""`crossply function generate`: create a function in a project, and a step that calls it.

The step is inserted into the file of the Composition, of which every other line stays as it is.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.failure_reports import step_output
from crossply.cli.project.flags import PROJECT_FILE_FLAG
from crossply.errors import CrossplyError
from crossply.kinds.composition_defaults import PIPELINE, composition_mode
from crossply.kinds.project import Project
from crossply.manifests.file_io import ConvertError
from crossply.project.folder import ProjectFolder, open_project
from crossply.project.model_folders import own_crds
from crossply.values import Object
from crossply.values.yaml import YamlError, read_documents
from crossply.values.yaml.text_edit import item_inserted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.models.structural_schema_classes import KindModel
    from crossply.scaffold.project_function import Composed

_PYTHON, _TEMPLATES, _KCL = "python", "go-templating", "kcl"
_LANGUAGES = ("go", _TEMPLATES, _KCL, _PYTHON)
_MODELS_LINK = "model"
_INDEX = "json/index.schema.json"

_PIPELINE = ("spec", "pipeline")


class FunctionGenerateError(CrossplyError):
    """A function cannot be generated with these arguments, or in this project."""

    code = "CP-587"


class _Step(NamedTuple):
    """The Composition that is to call the function, and its text with the step."""

    path: str
    composition: Object
    text: str


def run(invocation: Invocation) -> int:
    """Make sure that all can be done, then write the function, then the step."""
    name, language = _checked_name(invocation["name"]), invocation["language"]
    folder = open_project(invocation["project-file"])
    _check_language(language, folder.project)
    step = _step(folder, invocation["pipeline-path"] or "", name)
    path = _free_directory(folder, name)
    say = invocation.stderr.write
    with step_output(f"Generating {language} function", say):
        files = _files(folder, name, step, path, language)
    with step_output("Writing function files", say):
        _write(path, files)
        if language == _KCL:
            _link_models(folder, path)
    if step is not None:
        with step_output("Adding pipeline step to composition", say):
            folder.rewrite_file(step.path, step.text)
    for file in sorted(files):
        invocation.stdout.write(f"wrote {os.path.relpath(os.path.join(path, file), folder.root)}\n")
    return 0


def _files(folder: ProjectFolder, name: str, step: _Step | None, path: str, language: str) -> dict[str, str]:
    if language == _PYTHON:
        return _python(folder, name, step)
    return _kcl(folder, name, step) if language == _KCL else _templates(folder, path)


def _checked_name(name: str) -> str:
    from crossply.apiserver.registry.name_validation import dns_1035_problems

    problems = dns_1035_problems(name)
    if problems:
        raise FunctionGenerateError(f'invalid function name "{name}": {"; ".join(problems)}')
    return name


def _check_language(language: str, project: Project) -> None:
    schemas = "json" if language == _TEMPLATES else language
    if project.languages and schemas not in project.languages:
        only = f"the project only generates [{' '.join(project.languages)}] schemas"
        advice = f'add "{schemas}" to spec.schemas.languages or choose a different language'
        raise FunctionGenerateError(f'cannot generate a "{language}" function: {only}; {advice}')
    if language not in (_PYTHON, _TEMPLATES, _KCL):
        raise FunctionGenerateError(
            f'cannot generate a "{language}" function: there is no template for it',
            hint="use --language=python, kcl or go-templating; a function in another language is built with "
            "its own tools, and a project depends on its package: crossply dependency add",
        )


def _step(folder: ProjectFolder, composition_path: str, name: str) -> _Step | None:
    if not composition_path:
        return None
    path = folder.relative(composition_path)
    if not os.path.exists(os.path.join(folder.root, path)):
        raise FunctionGenerateError(
            f'pipeline path "{path}" does not exist', hint=f"it is a path from {folder.root}"
        )
    try:
        return _Step(path, *_with_step(folder.read(path), path, name, _reference(folder.project, name)))
    except CrossplyError as problem:
        raise problem.within("cannot add pipeline step to composition") from None


def _reference(project: Project, name: str) -> str:
    """What the function is called once the project is installed."""
    from crossply.xpkg.dns_names import to_dns_label
    from crossply.xpkg.image_reference import parse

    try:
        return to_dns_label(parse(project.function_repository(name)).repository)
    except CrossplyError as problem:
        prefix = f'cannot build function reference from repository "{project.repository}"'
        raise problem.within(prefix) from None


def _free_directory(folder: ProjectFolder, name: str) -> str:
    """The directory of the new function; it must not exist."""
    path = os.path.join(folder.root, folder.relative(os.path.join(folder.project.functions, name)))
    if os.path.lexists(path) and not (os.path.isdir(path) and not os.listdir(path)):
        raise FunctionGenerateError(
            f'function directory "{name}" already exists and is not empty', hint="choose another name"
        )
    return path


def _templates(folder: ProjectFolder, path: str) -> dict[str, str]:
    from crossply.scaffold.project_function import template_files

    index = os.path.join(folder.root, folder.project.schemas, _INDEX)
    return template_files(os.path.relpath(index, path) if os.path.exists(index) else "")


def _python(folder: ProjectFolder, name: str, step: _Step | None) -> dict[str, str]:
    from crossply.models.dataclass_models import package_files
    from crossply.models.structural_schema_classes import models_in
    from crossply.scaffold.project_function import python_files

    used_names: dict[tuple[str, str], set[str]] = {}
    models_by_crd = [(crd, models_in(crd, used_names)) for crd in own_crds(folder)]
    kinds = [kind for _, models in models_by_crd for kind in models]
    models = package_files(kinds, "the APIs of the project") if kinds else {}
    return python_files(name, _composed(models_by_crd, step), models)


def _kcl(folder: ProjectFolder, name: str, step: _Step | None) -> dict[str, str]:
    from crossply.models.kcl_names import package_of
    from crossply.scaffold.project_function import kcl_files

    kinds = [
        (crd["spec"]["group"], version["name"], crd["spec"]["names"]["kind"])
        for crd in own_crds(folder)
        for version in crd["spec"]["versions"]
    ]
    reference = step.composition["spec"].get("compositeTypeRef") if step else None
    for group, version, kind in kinds if step or len(kinds) == 1 else ():
        if reference in (None, {"apiVersion": f"{group}/{version}", "kind": kind}):
            return kcl_files(name, ".".join(package_of(group, version, kind).folders), kind)
    return kcl_files(name, "", "")


def _link_models(folder: ProjectFolder, path: str) -> None:
    """Have the function import the project's models as the package `models`."""
    from crossply.project.model_folders import refresh_own_models

    package = refresh_own_models(folder, "kcl")
    os.symlink(os.path.relpath(package, path), os.path.join(path, _MODELS_LINK))


def _composed(models_by_crd: list[tuple[Object, list[KindModel]]], step: _Step | None) -> Composed | None:
    """The kind that the function is for: that of its Composition, or the only one."""
    from crossply.scaffold.project_function import Composed

    composite_type_ref = step.composition["spec"].get("compositeTypeRef") if step else None
    for crd, kinds in models_by_crd if step or len(models_by_crd) == 1 else ():
        for kind in kinds:
            reference = {"apiVersion": f"{kind.group}/{kind.version}", "kind": kind.kind}
            if step is None or reference == composite_type_ref:
                return Composed(kind, _example(crd, kind.version))
    return None


def _example(crd: Object, version: str) -> Object:
    from crossply.scaffold.example_resource import example_of

    versions = [candidate for candidate in crd["spec"]["versions"] if candidate["name"] == version]
    return example_of({**crd, "spec": {**crd["spec"], "versions": versions}})


def _write(path: str, files: dict[str, str]) -> None:
    from crossply.manifests.file_io import replace_folder

    replace_folder(path, files, "cannot write function files")


def _with_step(data: bytes, source: str, name: str, function: str) -> tuple[Object, str]:
    """The unchanged Composition of a file, and its text with the step inserted first."""
    composition = _composition(data, source)
    pipeline = composition["spec"].get("pipeline") or []
    present = [step for step in pipeline if isinstance(step, dict) and step.get("step") == name]
    for step in present:
        called = (step.get("functionRef") or {}).get("name", "")
        if called != function:
            raise ConvertError(
                f'composition already has a step named "{name}" referencing function "{called}"',
                place=source,
                hint="rename the function or edit the pipeline by hand",
            )
    if present:
        return composition, data.decode("utf-8", "replace")
    step = {"step": name, "functionRef": {"name": function}}
    spec = {**composition["spec"], "pipeline": [step, *pipeline]}
    return composition, item_inserted(data, {**composition, "spec": spec}, _PIPELINE, 0)


def _composition(data: bytes, source: str) -> Object:
    try:
        objects = [document.value for document in read_documents(data, source) if document.value is not None]
    except YamlError as problem:
        raise problem.within("cannot unmarshal composition") from None
    value = objects[0] if len(objects) == 1 else None
    if not isinstance(value, dict) or value.get("kind") != "Composition":
        raise ConvertError(
            f"{source} is not a Composition", hint="name a file that holds one Composition and nothing else"
        )
    spec = value.get("spec")
    if not isinstance(spec, dict) or composition_mode(spec) != PIPELINE:
        raise ConvertError(
            f"the Composition of {source} has no pipeline",
            hint="crossply convert makes Compositions of older forms pipelines; set mode: Pipeline",
        )
    if not isinstance(spec.get("pipeline") or [], list):
        raise ConvertError(f"the pipeline of the Composition of {source} is not a list", place=source)
    return value


COMMAND = Command(
    "generate",
    "Generate a function in a project.",
    run,
    arguments=(
        Argument("name", "Name of the function to generate. Must be a valid DNS-1035 label."),
        Argument(
            "pipeline-path", "Path to a Composition YAML file to add a pipeline step to.", optional=True
        ),
    ),
    flags=(
        Flag(
            "language",
            "Language to use for the function.",
            short="l",
            kind="string",
            default=_TEMPLATES,
            choices=_LANGUAGES,
        ),
        PROJECT_FILE_FLAG,
    ),
    description=(
        "Writes a working function into the functions directory of a project: Go templates, a KCL module\n"
        "with models of the project's kinds, or Python on Crossply's SDK with models and a test. If a\n"
        "Composition is named, a first step that calls the function is added to it; its comments and order\n"
        "are kept. Existing files are not overwritten."
    ),
    examples=(
        "crossply function generate compose-lamp",
        "crossply function generate compose-lamp apis/lamps/composition.yaml --language=python",
        "crossply function generate compose-lamp apis/lamps/composition.yaml --language=kcl",
    ),
)
