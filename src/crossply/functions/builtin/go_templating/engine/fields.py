"""Fields: `.a.b`, `$x.a`, `(f .x).a`. A field is a key of a map, a field of a struct, or a method."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.engine.errors import ErrorSite
from crossply.functions.builtin.go_templating.engine.go_types import NO_VALUE, StringMap, Structure, go_type
from crossply.functions.builtin.go_templating.engine.limits import LimitExceeded
from crossply.functions.builtin.go_templating.engine.render_state import (
    MISSING_DEFAULT,
    MISSING_ERROR,
    Evaluate,
    Frame,
)
from crossply.functions.builtin.go_templating.engine.signatures import Function, FunctionFailed
from crossply.values.goquote import quote


def of_dot(names: tuple[str, ...], site: ErrorSite, boxed: bool) -> Evaluate:
    """A chain of fields of the dot."""

    def run(frame: Frame, dot: Any) -> Any:
        value = dot
        for name in names:
            if value.__class__ is dict and name in value:
                value = value[name]
            else:
                value = field(frame, value, name, site, (boxed and not frame.typed) or value is not dot)
        return value

    return run


def of_variable(slot: int, names: tuple[str, ...], site: ErrorSite, boxed: bool) -> Evaluate:
    """A chain of fields of a variable."""

    def run(frame: Frame, dot: Any) -> Any:
        start = value = frame.variables[slot]
        for name in names:
            if value.__class__ is dict and name in value:
                value = value[name]
            else:
                value = field(frame, value, name, site, (boxed and not frame.typed) or value is not start)
        return value

    return run


def of_expression(inner: Evaluate, names: tuple[str, ...], site: ErrorSite) -> Evaluate:
    """A chain of fields of the result of an expression."""

    def run(frame: Frame, dot: Any) -> Any:
        start = value = inner(frame, dot)
        if value is None:
            start = value = NO_VALUE
        for name in names:
            if value.__class__ is dict and name in value:
                value = value[name]
            else:
                value = field(frame, value, name, site, value is not start)
        return value

    return run


def field(frame: Frame, value: Any, name: str, site: ErrorSite, boxed: bool) -> Any:
    """One field of a value, for all cases but an existing key of a map."""
    if isinstance(value, dict):
        return value[name] if name in value else _missing(frame, value, name, site)
    if value is NO_VALUE:
        if frame.missing == MISSING_ERROR:
            raise site.error(f"nil data; no entry for key {quote(name)}")
        return NO_VALUE
    if value is None:
        raise site.error(f"nil pointer evaluating interface {{}}.{name}")
    if isinstance(value, Structure):
        if name in value.methods:
            return call_method(frame, value.methods[name], name, [], site)
        if name in value.fields:
            return value.fields[name]
        boxed = False
    raise site.error(f"can't evaluate field {name} in type {'interface {}' if boxed else go_type(value)}")


def _missing(frame: Frame, container: dict[str, Any], name: str, site: ErrorSite) -> Any:
    if frame.missing == MISSING_DEFAULT:
        return NO_VALUE
    if frame.missing == MISSING_ERROR:
        raise site.error(f"map has no entry for key {quote(name)}")
    return "" if isinstance(container, StringMap) else None


def call_method(frame: Frame, method: Function, name: str, args: list[Any], site: ErrorSite) -> Any:
    """Call a method of a struct with evaluated arguments."""
    expected = len(method.parameters) - method.variadic
    if len(args) < expected or (len(args) > expected and not method.variadic):
        least = "at least " if method.variadic else ""
        raise site.error(f"wrong number of args for {name}: want {least}{expected} got {len(args)}")
    frame.budget.check()
    try:
        return method.call(*args)
    except (FunctionFailed, LimitExceeded) as error:
        raise site.error(f"error calling {name}: {error}") from None
