"""`crossply composition convert pipeline-composition`: convert a Composition to a pipeline."""

from __future__ import annotations

from crossply.cli.composition.conversion import (
    ENVIRONMENT_CONFIGS_FLAG,
    PATCH_AND_TRANSFORM_FLAG,
    convert_composition,
)
from crossply.cli.framework.command import Command, Invocation
from crossply.cli.framework.input_output_flags import input_file, output_file
from crossply.convert.current_composition import FunctionNames, current_composition


def run(invocation: Invocation) -> int:
    """Convert one Composition."""
    names = FunctionNames(
        invocation["function-patch-and-transform-ref"], invocation["function-environment-configs-ref"]
    )
    return convert_composition(invocation, lambda value: current_composition(value, names))


COMMAND = Command(
    "pipeline-composition",
    "Convert a Composition with resource templates to a pipeline of functions.",
    run,
    arguments=(input_file("Composition file to be converted"),),
    flags=(
        output_file("generated Composition"),
        PATCH_AND_TRANSFORM_FLAG,
        ENVIRONMENT_CONFIGS_FLAG,
    ),
    description=(
        "Rewrites a Composition that patches and transforms natively (mode Resources, or the first design's\n"
        "from and to): its templates become the input of function-patch-and-transform, and its environment\n"
        "that of function-environment-configs. Fields that were optional for the engine and that the\n"
        "functions require are filled in: types of patches and transforms, names of templates, policies.\n"
        "Comments are kept."
    ),
    examples=(
        "crossply composition convert pipeline-composition composition.yaml -o pipeline.yaml",
        "crossply composition convert pipeline-composition < composition.yaml",
    ),
)
