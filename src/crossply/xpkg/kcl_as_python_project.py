"""A function in KCL as a Python project: Crossply's function-kcl, serving the module that comes with it.

The module must be complete: what it imports is in its directory.
"""

from __future__ import annotations

import shutil

from crossply.xpkg.runtime_requirements import Needs
from crossply.xpkg.single_file_project import source_folder, write_project

NEEDS = Needs(
    ("crossply.sdk", "crossply.functions.builtin.kcl", "crossply.functions.builtin.sandbox"),
    ("grpcio", "orjson", "kcl-lib"),
)
"""What serving such a function needs. Workers of the sandbox import modules by their names."""
_SERVE = '''\
"""Serves the KCL module in source."""

import os
import sys

from crossply.compose.wire import decode_request, encode_response
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
    """The directory of a project that serves the KCL module of another, made in a directory of its own."""
    shutil.copytree(directory, source_folder(scratch))
    write_project(scratch, ["kcl-lib"], _SERVE)
    return scratch
