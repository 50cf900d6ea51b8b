"""`crossply xr patch`: apply the defaults of an XRD to a composite resource."""

from __future__ import annotations

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.input_output_flags import input_file, output_file, read_object, write_output
from crossply.compose.object_metadata import name_of
from crossply.errors import CrossplyError
from crossply.manifests.file_io import ConvertError
from crossply.values.yaml.comments import dump_with, read_comments


def run(invocation: Invocation) -> int:
    """Fill in the defaults of one composite resource."""
    if not invocation["xrd"]:
        raise ConvertError(
            "no patching flag provided: at least one of --xrd must be set",
            hint="name the definition's file: --xrd=xrd.yaml",
        )
    from crossply.rendering.inputs import load_definition
    from crossply.rendering.required_schemas import apply_definition_defaults

    document = read_object(invocation, "cannot unmarshal XR")
    xr = document.value
    definition = load_definition(invocation["xrd"])
    try:
        patched = apply_definition_defaults(xr, definition)
    except CrossplyError as problem:
        raise problem.within(f'cannot apply XRD defaults to XR "{name_of(xr)}"') from None
    write_output(invocation, f"---\n{dump_with(patched, read_comments(document.text))}")
    return 0


COMMAND = Command(
    "patch",
    "Apply the defaults of an XRD to a composite resource (XR).",
    run,
    arguments=(input_file("XR YAML file to patch"),),
    flags=(
        output_file("patched XR YAML"),
        Flag(
            "xrd",
            "A YAML file specifying the CompositeResourceDefinition (XRD) that provides schema defaults "
            "for the XR.",
            kind="path",
            placeholder="PATH",
        ),
    ),
    description=(
        "Shows a composite resource as the API server would store it: with the defaults of its definition's\n"
        "schema. Comments are kept."
    ),
    examples=("crossply xr patch xr.yaml --xrd=xrd.yaml -o patched.yaml",),
)
