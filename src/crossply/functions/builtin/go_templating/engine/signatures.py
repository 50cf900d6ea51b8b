"""The signature of a template function: what to call, and the Go types of its parameters.

The engine checks arguments like Go's reflection, with its messages, so functions can rely on the types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

ANY = "interface {}"
"""The Go type of a parameter that accepts anything, including nil."""

VALUE = "reflect.Value"
"""Like ANY, but the function can tell nil from no value: for the built-in functions."""


class FunctionFailed(Exception):
    """A template function fails. The engine turns it into an ExecError with the location."""


class Function(NamedTuple):
    """A function that templates can call.

    `parameters` are Go type names as reflection spells them: "string", "int", "int64", "float64", "bool",
    "interface {}" ("any" means the same here), "[]interface {}", "[]string", "map[string]interface {}",
    "time.Time"; "..." as a type is not written: `variadic` says that the last parameter may repeat, or be
    missing. `slow` functions can take seconds and are not started shortly before the deadline.
    `memory` estimates the size of the result in bytes from the arguments.
    """

    call: Callable[..., Any]
    parameters: tuple[str, ...] = ()
    variadic: bool = False
    slow: bool = False
    memory: Callable[..., int] | None = None
