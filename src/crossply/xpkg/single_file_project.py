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
    package = os.path.join(scratch, _PACKAGE)
    shutil.copytree(directory, os.path.join(package, "source"), symlinks=True, ignore=_ignored)
    dependencies = json.dumps([f"crossply>={__version__}", *read_requirements(directory)])
    text = _PYPROJECT.format(dependencies=dependencies, package=_PACKAGE)
    for path, content in (
        (os.path.join(scratch, "pyproject.toml"), text),
        (f"{package}/__init__.py", _SERVE),
    ):
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    return scratch


def _ignored(folder: str, names: list[str]) -> list[str]:
    """What does not belong to the function: caches, virtual environments, and what is no file."""
    return [name for name in names if name in _LEFT_OUT or name[0] == "." or not _is_plain(folder, name)]


def _is_plain(folder: str, name: str) -> bool:
    mode = os.lstat(os.path.join(folder, name)).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
