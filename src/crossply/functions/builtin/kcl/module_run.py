"""Run the module of a directory by itself, without a request."""

from __future__ import annotations

import os

from crossply.functions.builtin.kcl.function import LANGUAGE, MAX_PROGRAM
from crossply.functions.builtin.kcl.module_source_policy import access_of
from crossply.functions.builtin.kcl.output import read_objects
from crossply.functions.builtin.kcl.program import module_program
from crossply.functions.builtin.sandbox.pool import ask
from crossply.values import Object


def objects_of_module(directory: str, *readable: str, models: str = "") -> list[Object]:
    """The objects that a module prints; its dependencies may be in the further directories, or in `models`.

    Raises ModuleError, ProgramError and OutputError.
    """
    access = access_of(os.environ, directory, *readable, models=models)
    program = module_program(os.path.abspath(directory), access)
    return read_objects(ask(LANGUAGE, program, b"{}", MAX_PROGRAM))
