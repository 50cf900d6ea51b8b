"""Writing what `crossply new` makes: all files or none, and none over another without being told so."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from crossply.cli.framework.command import Flag, Invocation
from crossply.errors import CrossplyError
from crossply.manifests.output_files import make_directory, write_file

FORCE = Flag("force", "Write over files that are there.")


class AlreadyThere(CrossplyError):
    """What is to be made anew is there already."""

    code = "CP-581"
    hint = "--force writes over it"


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
