"""A complete Python program: its files, and the modules that it imports through a link, in one directory.

The image of a function has such a program: of the generated models it has those that are imported.
"""

from __future__ import annotations

import os
import shutil

from crossply.manifests.file_io import make_directory, write_file
from crossply.project.python_program_files import python_files

_FAILURE = "cannot write the program"


def has_links(directory: str) -> bool:
    """Whether a program imports something that is not in its directory."""
    return any(os.path.islink(os.path.join(directory, name)) for name in os.listdir(directory))


def write_bundle(directory: str, root: str, target: str) -> None:
    """Write the complete program of a directory into another; links lead to somewhere below `root`."""
    shutil.copytree(directory, target, symlinks=True, ignore=_links)
    for name, text in python_files(directory, root).items():
        path = os.path.join(target, name)
        if not os.path.exists(path):
            make_directory(os.path.dirname(path), _FAILURE)
            write_file(path, text, _FAILURE)


def _links(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if os.path.islink(os.path.join(folder, name))]
