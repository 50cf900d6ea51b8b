"""A function that is a Python file, main.py, and no Python project: a project is made around it.

It serves the file as `crossply function run` does. What the file imports beside Crossply is listed in
requirements.txt.
"""

from __future__ import annotations

import json
import os
import shutil
import stat

from crossply.version import __version__
from crossply.xpkg.requirements_file import read_requirements

FILE = "main.py"
_PACKAGE = "function_of_project"
"""The Python package that such a project consists of; what it serves is in its folder `source`."""
_LEFT_OUT = ("__pycache__", "examples")

_PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "function-of-project"
version = "0.0.0"
dependencies = {dependencies}
[project.scripts]
function = "{package}:serve"
[tool.hatch.build.targets.wheel]
packages = ["{package}"]
"""
_SERVE = '''\
"""Serves the function in source/main.py."""

import os
import sys


def serve():
    from crossply.sdk.__main__ import main

    return main([os.path.join(os.path.dirname(__file__), "source", "main.py"), *sys.argv[1:]])
'''


def project_around(directory: str, scratch: str) -> str:
    """The directory of a project that serves the main.py of another, made in a directory of its own."""
    shutil.copytree(directory, source_folder(scratch), symlinks=True, ignore=_ignored)
    write_project(scratch, read_requirements(directory), _SERVE)
    return scratch


def source_folder(project: str) -> str:
    """Where what a project serves is copied to."""
    return os.path.join(project, _PACKAGE, "source")


def write_project(directory: str, requirements: list[str], serve: str) -> None:
    """Write the files of a project beside its source: what it needs, and the module whose `serve` it runs."""
    dependencies = json.dumps([f"crossply>={__version__}", *requirements])
    text = _PYPROJECT.format(dependencies=dependencies, package=_PACKAGE)
    for path, content in (("pyproject.toml", text), (f"{_PACKAGE}/__init__.py", serve)):
        with open(os.path.join(directory, path), "w", encoding="utf-8") as file:
            file.write(content)


def _ignored(folder: str, names: list[str]) -> list[str]:
    """What does not belong to the function: caches, virtual environments, and what is no file."""
    return [name for name in names if name in _LEFT_OUT or name[0] == "." or not _is_plain(folder, name)]


def _is_plain(folder: str, name: str) -> bool:
    mode = os.lstat(os.path.join(folder, name)).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
