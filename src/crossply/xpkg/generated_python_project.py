"""A function that is a Python file, main.py, or a KCL module: a Python project is made around it.

A file is served as `crossply function run` does. What the file imports beside Crossply is listed in
requirements.txt. A KCL module is served by Crossply's function-kcl, and must be complete: what it imports is
in its directory.
"""

from __future__ import annotations

import json
import os
import shutil
import stat

from crossply.version import __version__
from crossply.xpkg.requirements_file import read_requirements
from crossply.xpkg.runtime_requirements import Needs

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
KCL_NEEDS = Needs(
    ("crossply.sdk", "crossply.functions.builtin.kcl", "crossply.functions.builtin.sandbox"),
    ("grpcio", "orjson", "kcl-lib"),
)
"""What serving such a function needs. Workers of the sandbox import modules by their names."""
_SERVE_KCL = '''\
"""Serves the KCL module in source."""

import os
import sys

from crossply.compose.wire_codec import decode_request, encode_response
from crossply.functions.builtin.kcl.function import run_module
from crossply.sdk.serving import serve_from_command_line

_SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "source")


class _Function:
    name = "kcl"
    log = None

    def run(self, request):
        return run_module(request, _SOURCE)

    def answer(self, data, context=None):
        return encode_response(self.run(decode_request(data)))


def serve():
    serve_from_command_line(_Function(), sys.argv[1:])
    return 0
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


def kcl_project_around(directory: str, scratch: str) -> str:
    """The directory of a project that serves the KCL module of another, made in a directory of its own."""
    shutil.copytree(directory, source_folder(scratch))
    write_project(scratch, ["kcl-lib"], _SERVE_KCL)
    return scratch
