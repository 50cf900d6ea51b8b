"""The files of a step's modules: packages in its input, and directories that the operator allows.

Directories are those that CROSSPLY_PYTHON_PATH lists: authors of Compositions must not read arbitrary files
of the machine. Of a directory, only the modules and packages are read whose names occur in the program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

ALLOWED = "CROSSPLY_PYTHON_PATH"
"""The environment variable with the directories of modules, separated as in PATH."""

_MAX_FILES = 1000
_MAX_BYTES = 2 << 20
_MAX_DEPTH = 20
_SUFFIX = ".py"
_WORD = re.compile(r"\w+")


class FilesError(Exception):
    """The modules cannot be read. It never leaves the function: it becomes a fatal result."""


def program_files(composite: str, packages: Any, environ: Mapping[str, str]) -> dict[str, str]:
    """The texts of modules by path, such as `networks/subnets.py`."""
    files = dict(_package_files(packages, (), _MAX_DEPTH))
    for directory in environ.get(ALLOWED, "").split(os.pathsep):
        if directory:
            _add_directory(files, os.path.realpath(directory), composite)
    return files


def _package_files(packages: Any, above: tuple[str, ...], depth: int) -> Iterator[tuple[str, str]]:
    """Files in the input: a map has packages, and texts of modules under names that end in `.py`."""
    if not isinstance(packages, dict) or not depth:
        return
    for name, content in packages.items():
        if isinstance(content, dict) and name.isidentifier():
            yield from _package_files(content, (*above, name), depth - 1)
        elif isinstance(content, str) and _is_module(name):
            yield "/".join((*above, name)), content


def _is_module(name: str) -> bool:
    return name.endswith(_SUFFIX) and name.removesuffix(_SUFFIX).isidentifier()


def _add_directory(files: dict[str, str], directory: str, composite: str) -> None:
    """Add what the program mentions, and what that mentions; files of the input are kept."""
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        raise FilesError(f"cannot read modules: open {directory}: {(error.strerror or '').lower()}") from None
    waiting = {name.removesuffix(_SUFFIX): name for name in names}
    words = set(_WORD.findall("\n".join((composite, *files.values()))))
    while mentioned := sorted(waiting.keys() & words):
        for module in mentioned:
            for path in _module_paths(directory, waiting.pop(module), _MAX_DEPTH):
                if path not in files:
                    files[path] = _read(directory, path, files)
                    words.update(_WORD.findall(files[path]))


def _module_paths(directory: str, name: str, depth: int) -> Iterator[str]:
    """The files of a module or of a package; links to directories are skipped."""
    full = os.path.join(directory, name)
    last = os.path.basename(name)
    if os.path.isfile(full):
        if _is_module(last):
            yield name
    elif depth and last.isidentifier() and os.path.isdir(full) and not os.path.islink(full):
        for inner in sorted(os.listdir(full)):
            yield from _module_paths(directory, f"{name}/{inner}", depth - 1)


def _read(directory: str, path: str, files: dict[str, str]) -> str:
    full = os.path.join(directory, path)
    if os.path.commonpath((os.path.realpath(full), directory)) != directory:
        raise FilesError(f"cannot read modules: {full} is a link out of {directory}")
    try:
        with open(full, encoding="utf-8") as file:
            text = file.read(_MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise FilesError(f"cannot read modules: {full}: {error}") from None
    if len(files) >= _MAX_FILES or len(text) > _MAX_BYTES:
        raise FilesError(f"cannot read modules: too many or too large files in {directory}")
    return text
