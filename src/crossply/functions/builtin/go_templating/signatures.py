"""What a template function looks like to the engine: what to call, and the Go types of its parameters.

The engine checks the arguments as Go's reflection would, with Go's sentences; a function may rely on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

ANY = "interface {}"
"""Go's type of a parameter that takes everything, nil among it."""

VALUE = "reflect.Value"
"""Like ANY, but the function is also told when there is no value at all: for the built-in functions."""


class FunctionFailed(Exception):
    """A template function gives up; the engine tells where. It never leaves the engine as it is."""


class Function(NamedTuple):
    """A function that templates can call.

    `parameters` are Go type names as reflection spells them: "string", "int", "int64", "float64", "bool",
    "interface {}" ("any" means the same here), "[]interface {}", "[]string", "map[string]interface {}",
    "time.Time"; "..." as a type is not written: `variadic` says that the last parameter may repeat, or be
    missing. `slow` marks what can take seconds: no such call is begun when the time is nearly up.
    `memory` says of the arguments about how many bytes the result takes, before they are used.
    """

    call: Callable[..., Any]
    parameters: tuple[str, ...] = ()
    variadic: bool = False
    slow: bool = False
    memory: Callable[..., int] | None = None
