"""The modules of a program: texts that come with it, found by Python's import system."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

_PACKAGE_FILE = "__init__.py"


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
