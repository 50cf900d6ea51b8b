"""One script: parsed once, evaluated for every request.

A script that defines `main` is evaluated once and then called. One that calls `Resource` is evaluated for
each request, with the request in its variables.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import orjson
import starlark

from crossply.functions.builtin.environment_configs.function import CONTEXT_KEY
from crossply.functions.builtin.starlark.script_calls import ScriptRun
from crossply.values import Object

_LIBRARY = (
    *("crossply_json", "crossply_call", "get", "get_label", "get_annotation"),
    *("crypto", "encoding", "regex", "yaml", "field", "schema"),
)
_COMPOSING = (
    *("Resource", "skip_resource", "set_path", "set_condition", "emit_event", "fatal", "dict"),
    *("set_connection_details", "get_observed", "is_observed", "observed_body", "get_condition"),
    *("require_resource", "require_resources", "require_extra_resource", "require_extra_resources"),
    *("get_extra_resource", "get_extra_resources", "set_response_ttl"),
)
_PRELUDE = "crossply"
_VARIABLES = """
oxr, dxr, observed, context, environment, extra_resources = json.decode(crossply_request)

def set_xr_status(path, value):
    set_path(dxr, "status." + path, value)
"""
_RESULT_EXPRESSION = "crossply_json([dxr, context])"
_CALL_MAIN = """
def crossply_main(request):
    return crossply_call(main, request)
"""


class Script:
    """A parsed script and its modules."""

    def __init__(self, program: Object, prelude: Any) -> None:
        self.defines_main: bool = program["main"]
        self._prelude = prelude
        names = _LIBRARY if self.defines_main else _LIBRARY + _COMPOSING
        self._load_prelude = self._parsed("prelude", f"load({', '.join(map(repr, (_PRELUDE, *names)))})")
        self._variables = self._parsed("prelude", _VARIABLES)
        self._result_expression = self._parsed("prelude", _RESULT_EXPRESSION)
        self._source = self._parsed(program["file"], program["source"])
        self._modules = {name: self._parsed(name, text) for name, text in program["modules"].items()}
        self._callable: Any = None

    @staticmethod
    @cache
    def dialect() -> Any:
        """The language: all that is not experimental, with top-level statements."""
        dialect = starlark.Dialect.extended()
        dialect.enable_top_level_stmt = True
        dialect.enable_load = True
        return dialect

    @staticmethod
    @cache
    def globals() -> Any:
        """The built-in functions of Starlark."""
        extension = starlark.LibraryExtension
        return starlark.Globals.extended_by([extension.StructType, extension.Json, extension.Print])

    def call_main(self, options: Any, request: bytes) -> bytes:
        """The value of `main` for a request, as JSON."""
        if self._callable is None:
            module = self._new_module("", options, ())
            starlark.eval_with(options, module, self._source, self.globals(), self._loader("", options, ()))
            starlark.eval(module, self._parsed("prelude", _CALL_MAIN), self.globals())
            self._callable = module.freeze()
        reply: str = self._callable.call_with(options, "crossply_main", request.decode()).value
        return reply.encode()

    def evaluate(self, options: Any, request: Object, run: ScriptRun) -> Object:
        """Evaluate the script and return what its calls collected."""
        context = request["context"]
        desired = request["desired"]["composite"]["resource"]
        environment = context.get(CONTEXT_KEY) or {}
        values = [run.composite, desired, run.observed, context, environment, run.required]
        variables = orjson.dumps(values).decode()
        module = self._new_module(variables, options, ())
        loader = self._loader(variables, options, ())
        starlark.eval_with(options, module, self._source, self.globals(), loader)
        written = starlark.eval(module, self._result_expression, self.globals())
        composite, context = orjson.loads(str(written))
        return run.response_data(composite, context or None)

    def _new_module(self, variables: str, options: Any, loading: tuple[str, ...]) -> Any:
        """A module with the predeclared names; `variables` are the values of _VARIABLES as JSON."""
        module = starlark.Module()
        starlark.eval(module, self._load_prelude, self.globals(), self._loader(variables, options, loading))
        if variables:
            module["crossply_request"] = variables
            starlark.eval(module, self._variables, self.globals())
        return module

    def _loader(self, variables: str, options: Any, loading: tuple[str, ...]) -> Any:
        def load(name: str) -> Any:
            if name == _PRELUDE:
                return self._prelude
            if name in loading:
                raise ImportError(f"modules load each other in a circle: {' → '.join((*loading, name))}")
            if name not in self._modules:
                raise ImportError(f"there is no module {name!r} in the input's modules")
            nested = (*loading, name)
            module = self._new_module(variables, options, nested)
            loader = self._loader(variables, options, nested)
            starlark.eval_with(options, module, self._modules[name], self.globals(), loader)
            return module.freeze()

        return starlark.FileLoader(load)

    def _parsed(self, name: str, text: str) -> Any:
        return starlark.parse(name, text, self.dialect())
