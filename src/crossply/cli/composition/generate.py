"""`crossply composition generate`: generate a Composition for an XRD of a project."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.failure_reports import step_output
from crossply.cli.project.flags import PROJECT_FILE_FLAG
from crossply.convert.new_composition import AUTO_READY_PACKAGE, composition_for, plural_in
from crossply.errors import CrossplyError
from crossply.kinds.project import XPKG
from crossply.manifests.file_io import ConvertError
from crossply.project.dependency_entries import text_with
from crossply.project.folder import ProjectFolder, open_project, parsed
from crossply.values import Object
from crossply.values.yaml import dump


def run(invocation: Invocation) -> int:
    folder = open_project(invocation["project-file"])
    say = invocation.stderr.write
    with step_output("Ensuring function-auto-ready dependency", say):
        if AUTO_READY_PACKAGE not in folder.project.packages:
            _depend_on_auto_ready(folder)
    with step_output("Writing Composition", say):
        _write_composition(folder, invocation)
    return 0


def _depend_on_auto_ready(folder: ProjectFolder) -> None:
    """Note the dependency in the project file. The package is not fetched: the function is built in."""
    package = {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "package": AUTO_READY_PACKAGE,
        "version": ">=v0.0.0",
    }
    folder.rewrite(text_with(folder, {"type": XPKG, XPKG: package}))


def _write_composition(folder: ProjectFolder, invocation: Invocation) -> None:
    name, plural = invocation["name"] or "", invocation["plural"] or ""
    try:
        definition = _load_definition(folder, folder.relative(invocation["xrd"]))
        composition = composition_for(definition, name, plural)
    except CrossplyError as problem:
        raise problem.within("failed to create Composition: failed to load XRD") from None
    file = f"composition-{name}.yaml" if name else "composition.yaml"
    path = invocation["path"] or f"{(plural or plural_in(definition)).lower()}/{file}"
    folder.add_api(path, dump(composition), replace=False, otherwise="delete the existing file")


def _load_definition(folder: ProjectFolder, name: str) -> Object:
    try:
        text = folder.read(name)
    except ConvertError as problem:
        raise problem.within(f"failed to read XRD file {name}") from None
    return parsed(text, name, "failed to unmarshal XRD") or {}


COMMAND = Command(
    "generate",
    "Generate a Composition for an XRD.",
    run,
    arguments=(Argument("xrd", "Path to the CompositeResourceDefinition (XRD) file."),),
    flags=(
        Flag("name", "Name prefix for the composition.", kind="string"),
        Flag("plural", "Custom plural for the referenced kind.", kind="string"),
        Flag("path", "Output file.", kind="string"),
        PROJECT_FILE_FLAG,
        Flag(
            "cache-dir",
            "No effect: no package is fetched.",
            kind="string",
            placeholder="DIR",
            no_effect="no package is fetched",
        ),
    ),
    description=(
        "Writes a Composition among the APIs of a project, with one step that calls function-auto-ready.\n"
        "The project gets a dependency on that function, if it has none yet; its comments are kept."
    ),
    examples=(
        "crossply composition generate apis/xcaches/definition.yaml",
        "crossply composition generate apis/xcaches/definition.yaml --name aws",
    ),
)
