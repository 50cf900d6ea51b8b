"""Reads and writes whole files, with Go's messages for what goes wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

from crossply.errors import CrossplyError
from crossply.values.yaml.limits import MAX_BYTES

_ENOUGH = MAX_BYTES + 1
"""Not everything that can be opened ends; the YAML reader reports files that are longer than this."""


class ConvertError(CrossplyError):
    """A file could not be read, converted or written."""

    code = "CP-550"


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


def write_file(path: str, text: str, prefix: str) -> None:
    """Write a file, in place of what was there."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        raise ConvertError(f"{prefix}: {in_go_words('open', path, problem)}") from None


def make_directory(path: str, prefix: str) -> None:
    """Make a directory and those it lies in."""
    try:
        os.makedirs(path, mode=0o755, exist_ok=True)
    except OSError as problem:
        raise ConvertError(f"{prefix}: {in_go_words('mkdir', path, problem)}") from None


def check_no_links(root: str, path: str, prefix: str) -> None:
    """Refuse a path that a symbolic link below `root` leads elsewhere: the folder may be somebody else's."""
    expected = os.path.normpath(os.path.join(os.path.realpath(root), os.path.relpath(path, root)))
    if os.path.realpath(path) != expected:
        raise ConvertError(
            f"{prefix}: {path} is reached through a symbolic link",
            hint="remove the link: files are written below the folder that they belong to",
        )


def in_go_words(verb: str, path: str, problem: OSError) -> str:
    """Go's message for an error of a file."""
    # Go finds that a directory cannot be made where a file is; Python that the file exists.
    if isinstance(problem, FileExistsError):
        return f"{verb} {path}: not a directory"
    reason = problem.strerror or "unknown error"
    return f"{verb} {path}: {reason[:1].lower()}{reason[1:]}"


def replace_folder(path: str, files: Mapping[str, str], prefix: str) -> None:
    """Have a folder hold these files and nothing else; without files there is no folder."""
    part = f"{path}.part"
    remove_folder(part, prefix)
    for name, text in files.items():
        file = os.path.join(part, name)
        make_directory(os.path.dirname(file), prefix)
        write_file(file, text, prefix)
    remove_folder(path, prefix)
    if files:
        os.rename(part, path)


def remove_folder(path: str, prefix: str) -> None:
    """Remove a folder with its contents, if it exists; of a symbolic link only the link."""
    import shutil

    try:
        if os.path.islink(path):
            os.unlink(path)
        elif os.path.lexists(path):
            shutil.rmtree(path)
    except OSError as problem:
        raise ConvertError(f"{prefix}: {in_go_words('unlink', path, problem)}") from None
