"""Flags of commands that convert one file: input from a path or stdin, output to a path or stdout."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Flag, Invocation
from crossply.manifests.file_io import read_input, write_file
from crossply.manifests.files import object_of
from crossply.values.yaml import Document, YamlError, read_first


def input_file(noun: str) -> Argument:
    """The argument of a command that reads a file, or standard input when none is named."""
    help_text = f"The {noun}, or '-' for stdin."
    return Argument("input-file", help_text, kind="path", optional=True, default="-")


def output_file(noun: str) -> Flag:
    """The flag of a command that writes a file, or to standard output when none is named."""
    help_text = f"The file to write the {noun} to. Defaults to stdout."
    return Flag("output-file", help_text, short="o", kind="path", placeholder="PATH")


def read_object(invocation: Invocation, purpose: str) -> Document:
    """The object that the input starts with; `purpose` begins the sentence when it is none.

    An input without any document gives an empty object: what to say of that is for the conversion.
    """
    path = invocation["input-file"]
    source = "stdin" if path == "-" else path
    data = read_input(path, invocation.stdin)
    try:
        document = read_first(data, source)
    except YamlError as problem:
        raise problem.within(f"{purpose}: error converting YAML to JSON") from None
    if document.value is None:
        return document._replace(value={})
    object_of(document, purpose)
    return document


def write_output(invocation: Invocation, text: str, prefix: str = "") -> None:
    """Write to --output-file or stdout; `prefix` begins the error message."""
    path = invocation["output-file"]
    if path:
        write_file(path, text, prefix or f'cannot write output file "{path}"')
    else:
        invocation.stdout.write(text)
