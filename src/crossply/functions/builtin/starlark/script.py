"""One script: read once, run for every request.

A script that defines `main` is evaluated once and then called. One that calls `Resource` is a list of
statements about one request: it is evaluated for each, with the request in its variables.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import orjson
import starlark

from crossply.functions.builtin.environment_configs.function import CONTEXT_KEY
from crossply.functions.builtin.starlark.script_calls import Run
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
_WRITTEN = "crossply_json([dxr, context])"
_CALL_MAIN = """
def crossply_main(request):
    return crossply_call(main, request)
"""


class Script:
    """A script and its modules, parsed."""

    def __init__(self, given: Object, prelude: Any) -> None:
        self.defines_main: bool = given["main"]
        self._prelude = prelude
        names = _LIBRARY if self.defines_main else _LIBRARY + _COMPOSING
        self._opening = self._parsed("prelude", f"load({', '.join(map(repr, (_PRELUDE, *names)))})")
        self._variables = self._parsed("prelude", _VARIABLES)
        self._written = self._parsed("prelude", _WRITTEN)
        self._source = self._parsed(given["file"], given["source"])
        self._modules = {name: self._parsed(name, text) for name, text in given["modules"].items()}
        self._callable: Any = None

    @staticmethod
    @cache
    def dialect() -> Any:
        """The language: all that is not experimental, with statements at the top."""
        dialect = starlark.Dialect.extended()
        dialect.enable_top_level_stmt = True
        dialect.enable_load = True
        return dialect

    @staticmethod
    @cache
    def globals() -> Any:
        """What Starlark itself brings."""
        extension = starlark.LibraryExtension
        return starlark.Globals.extended_by([extension.StructType, extension.Json, extension.Print])

    def returned(self, options: Any, request: bytes) -> bytes:
        """What `main` returns for a request, as JSON."""
        if self._callable is None:
            module = self._opened("", options, ())
            starlark.eval_with(options, module, self._source, self.globals(), self._loader("", options, ()))
            starlark.eval(module, self._parsed("prelude", _CALL_MAIN), self.globals())
            self._callable = module.freeze()
        reply: str = self._callable.call_with(options, "crossply_main", request.decode()).value
        return reply.encode()

    def collected(self, options: Any, request: Object, run: Run) -> Object:
        """What the calls of a script say about a request."""
        context = request["context"]
        desired = request["desired"]["composite"]["resource"]
        environment = context.get(CONTEXT_KEY) or {}
        values = [run.composite, desired, run.observed, context, environment, run.required]
        variables = orjson.dumps(values).decode()
        module = self._opened(variables, options, ())
        loader = self._loader(variables, options, ())
        starlark.eval_with(options, module, self._source, self.globals(), loader)
        written = starlark.eval(module, self._written, self.globals())
        composite, context = orjson.loads(str(written))
        return run.said(composite, context or None)

    def _opened(self, variables: str, options: Any, within: tuple[str, ...]) -> Any:
        """A module with all that is predeclared; variables are the values of _VARIABLES, in JSON."""
        module = starlark.Module()
        starlark.eval(module, self._opening, self.globals(), self._loader(variables, options, within))
        if variables:
            module["crossply_request"] = variables
            starlark.eval(module, self._variables, self.globals())
        return module

    def _loader(self, variables: str, options: Any, within: tuple[str, ...]) -> Any:
        def load(name: str) -> Any:
            if name == _PRELUDE:
                return self._prelude
            if name in within:
                raise ImportError(f"modules load each other in a circle: {' → '.join((*within, name))}")
            if name not in self._modules:
                raise ImportError(f"there is no module {name!r} in the input's modules")
            deeper = (*within, name)
            module = self._opened(variables, options, deeper)
            loader = self._loader(variables, options, deeper)
            starlark.eval_with(options, module, self._modules[name], self.globals(), loader)
            return module.freeze()

        return starlark.FileLoader(load)

    def _parsed(self, name: str, text: str) -> Any:
        return starlark.parse(name, text, self.dialect())
