"""Programs in Python that make tests, as a language of sandboxed workers.

A program is a set of files. Libraries that it imports are loaded before the process is confined; its own
modules are then run from memory. What it makes are the tests among the variables of its main module, or what
that prints.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

from crossply.functions.builtin.python.script_environment import LAZY_IMPORTS, audit_hook
from crossply.functions.builtin.sandbox.limit_constants import MEMORY, SECONDS
from crossply.functions.builtin.sandbox.worker import Answer, ProgramFailed, TimeLimitExceeded

PACKAGE = "tests_of_project"
"""The package that the directory of a program is."""
KINDS = ("CompositionTest", "E2ETest", "OperationTest")
_LIBRARIES = ("pydantic", "pydantic_core", "yaml", "annotated_types")
_STANDARD = (
    *("base64", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "functools", "hashlib"),
    *(
        "ipaddress",
        "itertools",
        "json",
        "math",
        "os",
        "pathlib",
        "random",
        "re",
        "string",
        "textwrap",
        "time",
    ),
    *("typing", "uuid", "zoneinfo", "linecache", "tokenize", "traceback"),
)
_ACTING = ("antigravity", "idlelib", "test", "this", "turtledemo")
"""Modules of Python that act when they are imported: they open windows, start programs or run tests."""


def prepare(program: bytes) -> None:
    if not program:
        for name in (*_STANDARD, *LAZY_IMPORTS):
            import_module(name)
        for name in _LIBRARIES:
            with contextlib.suppress(ImportError):
                import_module(name)
        _warm_up()
        return
    for name in filter(_is_library, json.loads(program)["libraries"]):
        with contextlib.suppress(Exception):  # it is raised where the program imports it
            import_module(name)


def _is_library(name: str) -> bool:
    """Whether importing a module only defines something: it happens before the process is confined."""
    first, *inner = name.split(".")
    return first not in _ACTING and "__main__" not in (first, *inner)


def _warm_up() -> None:
    """Use pydantic once: it imports some of its modules when a class is made."""
    pydantic: Any = sys.modules.get("pydantic")
    if pydantic is None:
        return
    when: Any = (pydantic.AwareDatetime | None, None)
    inner: Any = pydantic.create_model(
        "Inner", name=(str | None, None), other=(dict[str, Any], {}), when=when
    )
    many: Any = (list.__class_getitem__(inner), [])
    model: Any = pydantic.create_model("Model", spec=(inner | None, None), many=many)
    with contextlib.suppress(pydantic.ValidationError):
        model(spec=1)
    model(spec={"name": "x", "when": "2026-01-01T00:00:00Z"}, many=[{}]).model_dump(
        mode="json", by_alias=True
    )


def load(program: bytes) -> Answer:
    parts = json.loads(program)
    sys.meta_path.insert(0, _Finder(parts["files"], parts["packages"]))
    os.environ.update(parts["variables"])
    sys.addaudithook(audit_hook)
    return lambda _: json.dumps(_run_program(parts["main"])).encode()


class _Finder(MetaPathFinder, Loader):
    """Finds the modules of a program in memory."""

    def __init__(self, files: dict[str, str], packages: list[str]) -> None:
        self._files = files
        self._folders = {folder for path in files for folder in _folders(path)}
        self._top = {PACKAGE, *packages}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        top, _, rest = name.partition(".")
        if top not in self._top:
            return None
        place = rest.replace(".", "/") if top == PACKAGE else name.replace(".", "/")
        for file in (f"{place}.py", f"{place}/__init__.py" if place else "__init__.py"):
            if file in self._files:
                is_package = file.endswith("__init__.py")
                return spec_from_loader(name, self, origin=file, is_package=is_package)
        is_folder = not place or place in self._folders
        return spec_from_loader(name, self, origin="", is_package=True) if is_folder else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        file = module.__spec__.origin if module.__spec__ is not None else ""
        if file:
            exec(compile(self._files[file], file, "exec", dont_inherit=True), module.__dict__)


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _run_program(main: str) -> dict[str, Any]:
    """The tests that the main module has among its variables, or what it prints."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            module = import_module(main)
        tests = list(
            {id(test): test for value in vars(module).values() for test in _tests_in(value)}.values()
        )
        items = [_plain(test) for test in tests]
    except BaseException as error:  # noqa: BLE001 - a program may raise anything and must not end the worker
        raise ProgramFailed(f"{_location(error)}{_error_text(error)}") from None
    return {"items": items, "printed": printed.getvalue()}


def _tests_in(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [test for item in value for test in _tests_in(item)]
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    is_model = hasattr(value, "model_dump") and not isinstance(value, type)
    return [value] if kind in KINDS and (is_model or isinstance(value, dict)) else []


def _plain(test: Any) -> Any:
    """A test as plain data, without fields that were not set."""
    if isinstance(test, dict):
        return _without_nulls(test)
    dumped = test.model_dump(mode="json", by_alias=True, exclude_none=True)
    return _without_nulls({**dumped, "apiVersion": test.apiVersion, "kind": test.kind})


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _error_text(error: BaseException) -> str:
    if isinstance(error, TimeLimitExceeded):
        return f"takes longer than {SECONDS:g} seconds"
    if isinstance(error, MemoryError):
        return f"takes more than {MEMORY >> 20} MiB of memory"
    return f"{type(error).__name__}: {error}"


def _location(error: BaseException) -> str:
    """The last line of the program that led to an error."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: "
    place, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not os.path.isabs(file) and not file.startswith("<") and file.endswith(".py"):
            place = f"{file}:{trace.tb_lineno}: "
        trace = trace.tb_next
    return place
