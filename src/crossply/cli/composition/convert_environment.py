"""`crossply composition convert composition-environment`: convert an environment to a pipeline step."""

from __future__ import annotations

from crossply.cli.composition.conversion import ENVIRONMENT_CONFIGS_FLAG, convert_composition
from crossply.cli.framework.command import Command, Invocation
from crossply.cli.framework.input_output_flags import input_file, output_file
from crossply.convert.environment import environment_to_function


def run(invocation: Invocation) -> int:
    """Convert one Composition."""
    function = invocation["function-environment-configs-ref"]
    return convert_composition(invocation, lambda value: environment_to_function(value, function))


COMMAND = Command(
    "composition-environment",
    "Convert a Composition's environment to function-environment-configs.",
    run,
    arguments=(input_file("Composition file to be converted"),),
    flags=(output_file("generated Composition"), ENVIRONMENT_CONFIGS_FLAG),
    description=(
        "Rewrites a Composition in Pipeline mode whose environment the engine itself selects: a first step\n"
        "that calls function-environment-configs does it instead. Comments are kept. For a Composition in\n"
        "Resources mode use pipeline-composition, which converts both."
    ),
    examples=(
        "crossply composition convert composition-environment composition.yaml -o new.yaml",
        "crossply composition convert composition-environment < composition.yaml",
    ),
)
