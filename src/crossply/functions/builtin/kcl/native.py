"""The KCL core: the native module of the package `kcl-lib`.

Only that module is loaded: the package around it imports protobuf and typed trees, which takes ten times as
long.
"""

from __future__ import annotations

from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

from crossply.functions.builtin.kcl.core_protobuf import decode_result, encode_run
from crossply.functions.builtin.kcl.worker_program_marshal import Program

_PACKAGE, _MODULE = "kcl_lib", "kcl_lib._kcl_lib"


@cache
def is_installed() -> bool:
    return _module_spec() is not None


def execute(arguments: bytes) -> bytes:
    """The JSON documents of a program; `arguments` is an encoded `ExecProgramArgs`. Raises CoreError."""
    return decode_result(bytes(_core().call(b"KclService.ExecProgram", arguments)))


def warm_up() -> None:
    """Load the core and run a trivial program, so that forks share what it initializes."""
    execute(encode_run(Program((("warm.k", "a = {b = [1]}"),), {}, (), (), (), (), (), (b"", b""))))


@cache
def _core() -> Any:
    spec = _module_spec()
    if spec is None or spec.loader is None:
        raise ImportError("kcl-lib is not installed")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _module_spec() -> ModuleSpec | None:
    package = find_spec(_PACKAGE)
    if package is None:
        return None
    return PathFinder.find_spec(_MODULE, package.submodule_search_locations)
