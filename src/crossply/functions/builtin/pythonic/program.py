"""A program: the text of a script with one subclass of `BaseComposite`, or the path of such a class.

It is executed again for every request, so that nothing of one request is there in the next. Modules of
a program are texts that come with it, found by Python's import system.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from inspect import isclass
from types import CodeType, ModuleType
from typing import Any

from crossply.functions.builtin.python.script_environment import ScriptImports, script_builtins
from crossply.functions.builtin.pythonic import constructors
from crossply.functions.builtin.pythonic.composite import BaseComposite
from crossply.functions.builtin.pythonic.node import append
from crossply.functions.builtin.pythonic.program_files import ALLOWED
from crossply.functions.builtin.sandbox.limit_constants import MEMORY, SECONDS
from crossply.functions.builtin.sandbox.worker import ProgramFailed, TimeLimitExceeded

FILE = "composite"
"""The file name of the script in messages."""

PAGE = "pythonic.md"

_CONSTRUCTORS = ("Map", "List", "Unknown", "Yaml", "YamlAll", "Json", "B64Encode", "B64Decode")
EXPORTS: dict[str, Any] = {
    "BaseComposite": BaseComposite,
    "append": append,
    **{name: getattr(constructors, name) for name in _CONSTRUCTORS},
}
"""The names of `crossplane.pythonic`, which scripts have without importing them."""
_PACKAGE_FILE = "__init__.py"


class Program:
    """The composite class of a step, and the modules that come with it."""

    def __init__(self, composite: str, modules: ProgramModules) -> None:
        self._composite = composite
        self._modules = modules
        self._builtins = script_builtins(ScriptImports(PAGE, modules.top_level_names))
        modules.builtins = self._builtins
        self._code: Any = None

    def composite_class(self) -> type[BaseComposite]:
        """Execute the program and find its class; raises ProgramFailed."""
        self._modules.forget_loaded()
        return self._class_of_script() if "\n" in self._composite else self._class_of_path()

    def _class_of_script(self) -> type[BaseComposite]:
        names: dict[str, Any] = {**EXPORTS, "__name__": FILE, "__builtins__": self._builtins}
        with self.stage("Exec"):
            if self._code is None:
                self._code = compile(self._composite, FILE, "exec", dont_inherit=True)
            exec(self._code, names)
        classes: list[type[BaseComposite]] = [value for value in names.values() if _is_composite(value)]
        if len(classes) > 1:
            raise ProgramFailed("Composite script has multiple BaseComposite classes")
        if not classes:
            raise ProgramFailed("Composite script does not have a BaseComposite class")
        return classes[0]

    def _class_of_path(self) -> type[BaseComposite]:
        path, _, name = self._composite.rpartition(".")
        if not path:
            raise ProgramFailed(f"Composite class name does not include module: {name}")
        with self.stage("Import module"):
            if path.partition(".")[0] not in self._modules.top_level_names:
                raise ModuleNotFoundError(
                    f"No module named {path!r}: put it into packages of the step, or into a directory that "
                    f"{ALLOWED} lists (docs/reference/functions/{PAGE})"
                )
            module = import_module(path)
        named_class = getattr(module, name, None)
        if not named_class:
            raise ProgramFailed(f"{path} does not define: {name}")
        if not isclass(named_class):
            raise ProgramFailed(f"{self._composite} is not a class")
        if not issubclass(named_class, BaseComposite):
            raise ProgramFailed(f"{self._composite} is not a subclass of BaseComposite")
        return named_class

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Turn what a part of the program raises into a ProgramFailed that names the part and the line."""
        try:
            yield
        except ProgramFailed:
            raise
        except BaseException as error:  # noqa: BLE001 - a program may raise anything and must not end the worker
            raise ProgramFailed(f"{name} exception: {_message(error)}{self._place(error)}") from None

    def _place(self, error: BaseException) -> str:
        """The last line of the program that led to an error."""
        if isinstance(error, SyntaxError) and self._is_own(error.filename):
            return f" ({error.filename}:{error.lineno})"
        place, trace = "", error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if self._is_own(code.co_filename):
                place = f" ({code.co_filename}:{trace.tb_lineno}, in {code.co_name})"
            trace = trace.tb_next
        return place

    def _is_own(self, file: str | None) -> bool:
        return file is not None and (file == FILE or self._modules.has_file(file))


def _is_composite(value: Any) -> bool:
    return isclass(value) and issubclass(value, BaseComposite) and value is not BaseComposite


def _message(error: BaseException) -> str:
    if isinstance(error, TimeLimitExceeded):
        return f"takes longer than {SECONDS:g} seconds"
    if isinstance(error, MemoryError):
        return f"takes more than {MEMORY >> 20} MiB of memory"
    if isinstance(error, SyntaxError):
        return error.msg
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - the program may define the exception
        return type(error).__name__


class ProgramModules:
    """Finds and loads modules by their files, such as `networks/subnets.py`."""

    def __init__(self, files: Mapping[str, str], builtins: Mapping[str, Any] | None = None) -> None:
        self._files = files
        self._packages = {
            ".".join(parts[:depth])
            for parts in (path.split("/") for path in files)
            for depth in range(1, len(parts))
        }
        tops = {path.split("/")[0].removesuffix(".py") for path in files}
        self.top_level_names = frozenset(tops - sys.stdlib_module_names)
        """The names that programs import these modules by. The standard library keeps its own."""
        self._codes: dict[str, CodeType] = {}
        self.builtins = builtins or {}

    def has_file(self, name: str) -> bool:
        return name in self._files

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        file = self._file(name)
        is_package = name in self._packages
        if name.partition(".")[0] not in self.top_level_names or (file is None and not is_package):
            return None
        return ModuleSpec(name, self, origin=file, is_package=is_package)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self.builtins
        file = self._file(module.__name__)
        if file is not None:
            if file not in self._codes:
                self._codes[file] = compile(self._files[file], file, "exec", dont_inherit=True)
            exec(self._codes[file], vars(module))

    def forget_loaded(self) -> None:
        """Have all modules executed again when they are imported next."""
        own = self.top_level_names
        for name in [name for name in sys.modules if name.partition(".")[0] in own] if own else ():
            del sys.modules[name]

    def _file(self, name: str) -> str | None:
        path = name.replace(".", "/")
        file = f"{path}/{_PACKAGE_FILE}" if name in self._packages else f"{path}.py"
        return file if file in self._files else None
