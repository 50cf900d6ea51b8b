"""The files of commands that make one file of another: from a path or stdin, to a path or stdout."""

from __future__ import annotations

import os
from typing import TextIO

from crossply.cli.framework.command import Argument, Flag, Invocation
from crossply.cli.framework.manifest_files import object_of
from crossply.errors import CrossplyError
from crossply.values.yaml import Document, YamlError, read_first
from crossply.values.yaml.limits import MAX_BYTES

_ENOUGH = MAX_BYTES + 1
"""Not everything that can be opened ends; of what is longer than this, the reader of YAML tells so."""


class ConvertError(CrossplyError):
    """A file could not be read, converted or written."""

    code = "CP-550"


def input_file(what: str) -> Argument:
    """The argument of a command that reads a file, or standard input when none is named."""
    help_text = f"The {what}, or '-' for stdin."
    return Argument("input-file", help_text, kind="path", optional=True, default="-")


def output_file(what: str) -> Flag:
    """The flag of a command that writes a file, or to standard output when none is named."""
    help_text = f"The file to write the {what} to. Defaults to stdout."
    return Flag("output-file", help_text, short="o", kind="path", placeholder="PATH")


def read_input(path: str, stdin: TextIO) -> bytes:
    """The bytes of a file, or of standard input for `-`."""
    try:
        if path == "-":
            return stdin.buffer.read(_ENOUGH)
        with open(path, "rb") as file:
            return file.read(_ENOUGH)
    except OSError as problem:
        verb = "read" if isinstance(problem, IsADirectoryError) else "open"
        raise ConvertError(f"Unable to read inputFile: {in_go_words(verb, path, problem)}") from None


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


def write_output(invocation: Invocation, text: str, story: str = "") -> None:
    """Write the result to where the user wants it; `story` begins the sentence when that cannot be done."""
    path = invocation["output-file"]
    if path:
        write_file(path, text, story or f'cannot write output file "{path}"')
    else:
        invocation.stdout.write(text)


def write_file(path: str, text: str, story: str) -> None:
    """Write a file, in place of what was there."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        raise ConvertError(f"{story}: {in_go_words('open', path, problem)}") from None


def make_directory(path: str, story: str) -> None:
    """Make a directory and those it lies in."""
    try:
        os.makedirs(path, mode=0o755, exist_ok=True)
    except OSError as problem:
        raise ConvertError(f"{story}: {in_go_words('mkdir', path, problem)}") from None


def in_go_words(verb: str, path: str, problem: OSError) -> str:
    """What Go says of a file that cannot be used."""
    # Go finds that a directory cannot be made where a file is; Python that the file exists.
    if isinstance(problem, FileExistsError):
        return f"{verb} {path}: not a directory"
    reason = problem.strerror or "unknown error"
    return f"{verb} {path}: {reason[:1].lower()}{reason[1:]}"
