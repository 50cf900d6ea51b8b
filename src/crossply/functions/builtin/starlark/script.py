"""A script and its modules: compiled once, run for every request."""

from __future__ import annotations

from collections.abc import Mapping

from crossply.functions.builtin.starlark.language.backtrace import backtrace, describe
from crossply.functions.builtin.starlark.language.failures import CompileError, EvalError
from crossply.functions.builtin.starlark.language.freezing_and_iteration import freeze
from crossply.functions.builtin.starlark.language.parser import Source
from crossply.functions.builtin.starlark.language.program import Globals, Load, Program, compile_program
from crossply.functions.builtin.starlark.language.values import Value
from crossply.functions.builtin.starlark.module_names import SCHEME, ModuleNameError, full_name
from crossply.functions.builtin.starlark.predeclared import NAMES
from crossply.functions.builtin.starlark.response_builtins import Fatal
from crossply.values import Object
from crossply.values.goquote import quote

RUN_ERRORS = (EvalError, NameError, TypeError, RecursionError)
"""What a run of a script raises."""


class ScriptProblem(Exception):
    """A script cannot be run to its end; the message is that of the result."""


class Script:
    """A script and its modules."""

    def __init__(self, program: Object) -> None:
        self.defines_main: bool = program["main"]
        self._file: str = program["file"]
        self._texts: dict[str, str] = {**program["modules"], self._file: program["source"]}
        self._modules: frozenset[str] = frozenset(program["modules"])
        self._searched: list[str] = program["searched"]
        self._registry: str = program["registry"]
        self._programs: dict[str, Program] = {}
        self._compiling: list[str] = []

    @property
    def sources(self) -> dict[str, Source]:
        return {name: program.source for name, program in self._programs.items()}

    def run(self, predeclared: Mapping[str, Value]) -> Globals:
        """Run the script; raises ScriptProblem, or Fatal if the script calls fatal()."""
        main = self._main()
        run = _Run(self, predeclared)
        try:
            return main.run(predeclared, run.loader(self._file))
        except Fatal:
            raise
        except RUN_ERRORS as error:
            raise ScriptProblem(self.failure(error)) from None

    def failure(self, error: BaseException) -> str:
        """The message about an error in the script."""
        trace = backtrace(error, self.sources)
        return f"starlark execution failed: starlark execution error: {trace}: {describe(error)}"

    def _main(self) -> Program:
        try:
            return self.compiled(self._file)
        except _StarImportProblem as error:
            raise ScriptProblem(f"resolving star imports: {error}") from None
        except CompileError as error:
            raise ScriptProblem(f"starlark execution failed: starlark compilation error: {error}") from None

    def compiled(self, name: str) -> Program:
        """The program of the script or of a module; raises CompileError."""
        if name not in self._programs:
            self._compiling.append(name)
            try:
                self._programs[name] = compile_program(
                    name,
                    self._texts[name],
                    NAMES,
                    lambda module: self._exports(module, name),
                    self.defines_main,
                )
            finally:
                self._compiling.pop()
        return self._programs[name]

    def _exports(self, module: str, caller: str) -> list[str]:
        """The names that a module exports, for `load(…, "*")`."""
        try:
            name = self.resolved(module, caller)
            if name in self._compiling:
                raise EvalError(f"cycle in load graph: {name}")
            return self.compiled(name).exports
        except CompileError as error:
            problem = f"compiling module {module} for star import: {error}"
            raise _StarImportProblem(f"resolving star import from {quote(module)}: {problem}") from None
        except EvalError as error:
            raise _StarImportProblem(f"resolving star import from {quote(module)}: {error}") from None

    def resolved(self, module: str, caller: str) -> str:
        """The full name of a module that a file loads; raises EvalError if it is not there."""
        try:
            name = full_name(module, caller, self._registry)
        except ModuleNameError as error:
            raise EvalError(str(error)) from None
        if name not in self._modules:
            if name.startswith(SCHEME):
                raise EvalError(
                    f"OCI module {quote(name)} not resolved; ensure the OCI reference was resolvable before "
                    "execution"
                )
            raise EvalError(
                f"module {quote(name)} not found; searched: {', '.join(('inline modules', *self._searched))}"
            )
        return name


class _StarImportProblem(CompileError):
    """A module whose names are all loaded cannot be used."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)


class _Run:
    """The modules that one run of a script has loaded."""

    def __init__(self, script: Script, predeclared: Mapping[str, Value]) -> None:
        self._script, self._predeclared = script, predeclared
        self._loaded: dict[str, Globals | None] = {}
        """None for a module that is being loaded."""

    def loader(self, caller: str) -> Load:
        return lambda module: self._load(module, caller)

    def _load(self, module: str, caller: str) -> Globals:
        try:
            return self._module(self._script.resolved(module, caller))
        except Fatal:
            raise
        except EvalError as error:
            raise EvalError(f"cannot load {module}: {error}") from None

    def _module(self, name: str) -> Globals:
        values = self._loaded.get(name)
        if values is not None:
            return values
        if name in self._loaded:
            raise EvalError(f"cycle in load graph: {name}")
        self._loaded[name] = None
        try:
            program = self._script.compiled(name)
        except CompileError as error:
            raise EvalError(f"compiling module {name}: {error}") from None
        try:
            values = program.run(self._predeclared, self.loader(name))
        except Fatal:
            raise
        except RUN_ERRORS as error:
            trace = backtrace(error, self._script.sources)
            raise EvalError(f"error in module {name}: {trace}: {describe(error)}") from None
        freeze(values.values())
        self._loaded[name] = values
        return values
