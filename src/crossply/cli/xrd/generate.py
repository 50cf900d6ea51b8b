"""`crossply xrd generate`: generate an XRD from an example, or from a SimpleSchema."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.project.flags import PROJECT_FILE_FLAG
from crossply.convert.new_definition import definition_of_example, definition_of_simple_schema
from crossply.errors import CrossplyError
from crossply.manifests.file_io import ConvertError
from crossply.project.folder import open_project, parsed
from crossply.values import Object
from crossply.values.yaml import dump

SIMPLE_SCHEMA = "simpleschema"


def run(invocation: Invocation) -> int:
    folder = open_project(invocation["project-file"])
    name = folder.relative(invocation["file"])
    try:
        text = folder.read(name)
    except ConvertError as problem:
        raise problem.within(f"failed to read file {name}") from None
    try:
        definition = _definition(text, name, invocation)
    except CrossplyError as problem:
        raise problem.within("failed to create CompositeResourceDefinition (XRD)") from None
    path = invocation["path"] or f"{definition['spec']['names']['plural']}/definition.yaml"
    folder.add_api(
        path,
        dump(definition),
        replace=invocation["replace"],
        otherwise="--replace to replace the existing file",
    )
    invocation.stdout.write(f"Created CompositeResourceDefinition (XRD) at {path}\n")
    return 0


def _definition(text: bytes, source: str, invocation: Invocation) -> Object:
    plural = invocation["plural"] or ""
    if invocation["from"] == SIMPLE_SCHEMA:
        return definition_of_simple_schema(parsed(text, source, "failed to unmarshal YAML"), plural)
    prefix = "failed to unmarshal YAML to check top-level keys"
    return definition_of_example(parsed(text, source, prefix), plural)


COMMAND = Command(
    "generate",
    "Generate an XRD from an example, or from a SimpleSchema.",
    run,
    arguments=(Argument("file", "Path to the XR or XRC YAML file."),),
    flags=(
        Flag(
            "from",
            "Input format: xr or simpleschema.",
            kind="string",
            default="xr",
            choices=("xr", SIMPLE_SCHEMA),
        ),
        Flag("path", "Output path.", kind="string"),
        Flag("replace", "Replace the existing definition file."),
        Flag("plural", "Custom plural form for the XRD.", kind="string"),
        PROJECT_FILE_FLAG,
    ),
    description=(
        "Writes an XRD into the APIs directory of a project. Its schema is inferred from the "
        "values of an\n"
        "example, or from a SimpleSchema, which has types instead of values, with markers, as in "
        "`size:\n"
        "integer | default=3 minimum=1`. Review it before you use it."
    ),
    examples=(
        "crossply xrd generate examples/cache.yaml",
        "crossply xrd generate cache-schema.yaml --from=simpleschema --plural=caches",
    ),
)
