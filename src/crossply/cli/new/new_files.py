"""Files that `crossply new` writes (all or none; over existing ones only with --force), and their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from crossply.cli.framework.command import Flag, Invocation, UsageError
from crossply.errors import CrossplyError
from crossply.manifests.file_io import make_directory, write_file

FORCE = Flag("force", "Overwrite existing files.")


class AlreadyThere(CrossplyError):
    """A file that would be created exists already."""

    code = "CP-581"
    hint = "--force overwrites it"


def write_new(
    invocation: Invocation, folder: str, files: Mapping[str, str], next_steps: Iterable[str]
) -> int:
    """Write files below a folder, and say what to do with them."""
    paths = {os.path.normpath(os.path.join(folder, name)): text for name, text in files.items()}
    there = [path for path in paths if os.path.lexists(path)]
    if there and not invocation["force"]:
        raise AlreadyThere(f"will not write over {', '.join(map(_from_here, there))}")
    for path, text in paths.items():
        make_directory(os.path.dirname(path) or os.curdir, "cannot make a directory")
        write_file(path, text, "cannot write")
        invocation.stdout.write(f"wrote {_from_here(path)}\n")
    invocation.stdout.write("next:\n")
    for step in next_steps:
        invocation.stdout.write(f"  {step}\n")
    return 0


def _from_here(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def into(folder: str) -> list[str]:
    """The first of the next steps: to go where the files are, if that is not here."""
    return [] if os.path.realpath(folder) == os.path.realpath(os.curdir) else [f"cd {_from_here(folder)}"]


DIRECTORY = Flag(
    "directory",
    "The directory to write to. Defaults to the name.",
    short="d",
    kind="path",
    placeholder="DIR",
)


def checked_name(name: str, *, dots: bool = False) -> str:
    """A valid DNS label, or with `dots` a DNS subdomain."""
    label = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
    pattern = rf"{label}(\.{label})+" if dots else label
    if len(name) <= 63 and re.fullmatch(pattern, name):
        return name
    form = "lower case letters, digits and dashes" + (", in parts with dots between them" if dots else "")
    raise UsageError(f'"{name}" cannot be a name: use {form}')


def checked_kind(kind: str) -> str:
    """A name that can be a kind."""
    if re.fullmatch(r"[A-Z][A-Za-z0-9]{0,62}", kind):
        return kind
    raise UsageError(f'"{kind}" cannot be a kind: use a capital, then letters and digits')
