"""Reads a Composition, converts it and writes it with its comments, for the commands that convert one."""

from __future__ import annotations

from collections.abc import Callable

from crossply.cli.framework.command import Flag, Invocation
from crossply.cli.framework.input_output_flags import read_object, write_output
from crossply.convert.conversion_result import Converted
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.yaml import Document
from crossply.values.yaml.comments import dump_with, moved, read_comments

Conversion = Callable[[Object], Converted | None]

PATCH_AND_TRANSFORM_FLAG = Flag(
    "function-patch-and-transform-ref",
    "Name of the installed function-patch-and-transform Function.",
    kind="string",
    default="function-patch-and-transform",
)
ENVIRONMENT_CONFIGS_FLAG = Flag(
    "function-environment-configs-ref",
    "Name of the installed function-environment-configs Function.",
    kind="string",
    default="function-environment-configs",
)


def convert_composition(invocation: Invocation, conversion: Conversion) -> int:
    """Convert the Composition of a file; say so when there is nothing to change."""
    document = read_object(invocation, "Unmarshalling Error")
    try:
        converted = conversion(document.value)
    except CrossplyError as problem:
        raise problem.within("Error generating new Composition") from None
    if converted is None:
        invocation.stderr.write("No changes needed.\n")
    else:
        write_output(invocation, text_of(converted, document), "Unable to open output file")
    return 0


def text_of(converted: Converted, document: Document) -> str:
    """A converted object as a document, with the comments that the old one had."""
    comments = read_comments(document.text)
    for moves in converted.rounds:
        comments = moved(comments, moves)
    return f"---\n{dump_with(converted.value, comments)}"
