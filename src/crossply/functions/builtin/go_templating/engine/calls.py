"""Calls of functions and methods, compiled: count, evaluate and check arguments, then call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from crossply.errors import CrossplyError
from crossply.functions.builtin.go_templating.engine import arguments
from crossply.functions.builtin.go_templating.engine.arguments import ABSENT
from crossply.functions.builtin.go_templating.engine.compile_scope import Compiled, Invoke, Scope
from crossply.functions.builtin.go_templating.engine.errors import ErrorSite, LastEvaluated
from crossply.functions.builtin.go_templating.engine.fields import call_method, field
from crossply.functions.builtin.go_templating.engine.go_types import NO_VALUE, Ints, Structure, go_type
from crossply.functions.builtin.go_templating.engine.limits import LimitExceeded
from crossply.functions.builtin.go_templating.engine.nodes import (
    Bool,
    Chain,
    Command,
    Field,
    Identifier,
    Nil,
    NumberNode,
    Operand,
    String,
    Variable,
)
from crossply.functions.builtin.go_templating.engine.render_state import Evaluate, Frame
from crossply.functions.builtin.go_templating.engine.signatures import ANY, VALUE, Function, FunctionFailed

Stage = Callable[[Frame, Any, Any], Any]
"""A compiled command that receives the result of the previous one, or ABSENT."""

CompileOperand = Callable[[Scope, Operand], Compiled]

_PER_CONTAINER, _PER_ITEM, _PER_NUMBER = 64, 8, 36
"""About how many bytes a list or map takes, each item of a list, and each new number in a list."""


def call(
    scope: Scope,
    name: Identifier,
    command: Command | Identifier,
    args: tuple[Operand, ...],
    compile_operand: CompileOperand,
    *,
    piped: bool = False,
) -> Compiled:
    """Compile a function call; a call with piped input is a Stage."""
    function = scope.functions[name.name]
    site = scope.at(name)
    wrong = _wrong_count(name.name, function, len(args), piped)
    if wrong:
        return Compiled(_failing(site, wrong), site)
    with scope.nested():
        compiled = [
            _argument(scope, arg, _type_of(function, at), compile_operand) for at, arg in enumerate(args)
        ]
    last = compiled[-1].last if compiled else site
    if name.name == "call":
        function = function._replace(call=partial(function.call, str(args[0]) if args else None))
    invoke = _invoker(name.name, function, scope.at(command))
    evaluate, invoke = scope.on_call(name.name, tuple(argument.run for argument in compiled), invoke, piped)
    if name.name in ("and", "or"):
        decided = LastEvaluated(tuple(argument.last for argument in compiled) or (site,))
        run = scope.on_short_circuit(_short_circuit(evaluate, name.name == "or", decided))
        return Compiled(run, decided, boxed=True)
    if not piped:
        return Compiled(_plain_call(evaluate, invoke), last, boxed=True)
    fit = arguments.fitting(_type_of(function, len(args)), last)
    stage: Any = scope.on_stage(_piped_call(evaluate, fit, invoke))
    return Compiled(stage, last, boxed=True)


# Calls dominate a render, so the usual small numbers of arguments are special cases.


def _plain_call(evaluate: tuple[Evaluate, ...], invoke: Invoke) -> Evaluate:
    if len(evaluate) == 1:
        only = evaluate[0]
        return lambda frame, dot: invoke(frame, (only(frame, dot),))
    if len(evaluate) == 2:
        first, second = evaluate
        return lambda frame, dot: invoke(frame, (first(frame, dot), second(frame, dot)))
    return lambda frame, dot: invoke(frame, tuple([argument(frame, dot) for argument in evaluate]))


def _piped_call(evaluate: tuple[Evaluate, ...], fit: Callable[[Any], Any], invoke: Invoke) -> Stage:
    if not evaluate:
        return lambda frame, dot, final: invoke(frame, (fit(final),))
    if len(evaluate) == 1:
        only = evaluate[0]
        return lambda frame, dot, final: invoke(frame, (only(frame, dot), fit(final)))
    return lambda frame, dot, final: invoke(
        frame, (*[argument(frame, dot) for argument in evaluate], fit(final))
    )


def _short_circuit(evaluate: tuple[Evaluate, ...], stop_at: bool, decided: LastEvaluated) -> Any:
    """`and` and `or`: arguments after the deciding one are not evaluated."""

    def run(frame: Frame, dot: Any, final: Any = ABSENT) -> Any:
        value: Any = NO_VALUE
        for at, evaluate_argument in enumerate(evaluate):
            value = evaluate_argument(frame, dot)
            decided.at = at
            if bool(value) is stop_at:
                return value
        return value if final is ABSENT else final

    return run


def _wrong_count(name: str, function: Function, arguments_count: int, piped: bool) -> str:
    """The error of a wrong number of arguments, or an empty text."""
    total = arguments_count + piped
    count = len(function.parameters)
    if function.variadic:
        if total >= count - 1:
            return ""
        return f"wrong number of args for {name}: want at least {count - 1} got {arguments_count}"
    return "" if total == count else f"wrong number of args for {name}: want {count} got {total}"


def _type_of(function: Function, at: int) -> str:
    """The type of a parameter; the last one repeats."""
    go_name = function.parameters[min(at, len(function.parameters) - 1)]
    return ANY if go_name == "any" else go_name


def _failing(site: ErrorSite, message: str) -> Any:
    def run(frame: Frame, dot: Any, final: Any = ABSENT) -> Any:
        raise site.error(message)

    return run


def _argument(scope: Scope, node: Operand, go_name: str, compile_operand: CompileOperand) -> Compiled:
    site = scope.at(node)
    if isinstance(node, Nil):
        if not arguments.can_be_nil(go_name):
            return Compiled(_failing(site, f"cannot assign nil to {go_name}"), site)
        nil = NO_VALUE if go_name == VALUE else arguments.nil_of(go_name)
        return Compiled(lambda frame, dot: nil, site)
    if isinstance(node, Bool | NumberNode | String):
        return Compiled(arguments.fixed(node, go_name, site), site)
    inner = compile_operand(scope, node)
    return Compiled(arguments.checked(inner, go_name), inner.last)


def _invoker(name: str, function: Function, site: ErrorSite) -> Invoke:
    """Call the function; errors have the location of the whole command."""
    call_function, slow, memory = function.call, function.slow, function.memory

    def invoke(frame: Frame, values: tuple[Any, ...]) -> Any:
        budget = frame.budget
        try:
            if slow:
                budget.check_early()
            if memory is not None:
                budget.allocated += memory(*values)
                budget.check()
            result = call_function(*values)
            if result.__class__ is str:
                budget.allocated += len(result)
            elif isinstance(result, list):
                per_item = _PER_NUMBER if result.__class__ is Ints else _PER_ITEM
                budget.allocated += _PER_CONTAINER + per_item * len(result)
            elif isinstance(result, dict):
                budget.allocated += (
                    _PER_CONTAINER  # most functions return a map that they changed, not a new one
                )
            budget.check()
        except (FunctionFailed, LimitExceeded, CrossplyError) as error:
            raise site.error(f"error calling {name}: {error}") from None
        except (RecursionError, MemoryError, OverflowError):
            raise site.error(f"error calling {name}: a value is too large or nests too deep") from None
        return result

    return _includer(site) if name == "include" else invoke


def _includer(site: ErrorSite) -> Invoke:
    def include(frame: Frame, values: tuple[Any, ...]) -> Any:
        try:
            frame.budget.check()
            return frame.render.include(*values)
        except (FunctionFailed, LimitExceeded) as error:
            raise site.error(f"error calling include: {error}") from None

    return include


def method_call(
    scope: Scope,
    receiver: Compiled,
    word: Field | Chain | Variable,
    args: tuple[Operand, ...],
    compile_operand: CompileOperand,
) -> tuple[Stage, ErrorSite]:
    """A field with arguments: it must be a method, whose parameters are known only at run time."""
    name = word.names[-1]
    site = receiver.last if isinstance(word, Chain) else scope.at(word)

    def run(frame: Frame, dot: Any, final: Any) -> Any:
        value = receiver.run(frame, dot)
        method = value.methods.get(name) if isinstance(value, Structure) else None
        if method is None:
            raise site.error(_no_method(frame, value, name, site))
        values = [
            _argument(scope, arg, _type_of(method, at), compile_operand).run(frame, dot)
            for at, arg in enumerate(args)
        ]
        if final is not ABSENT:
            values.append(arguments.fit(final, _type_of(method, len(args)), site, boxed=False))
        return call_method(frame, method, name, values, site)

    return run, site


def _no_method(frame: Frame, value: Any, name: str, site: ErrorSite) -> str:
    if isinstance(value, dict):
        return f"{name} is not a method but has arguments"
    if isinstance(value, Structure) and name in value.fields:
        return f"{name} has arguments but cannot be invoked as function"
    field(frame, value, name, site, boxed=False)
    return f"can't evaluate field {name} in type {go_type(value)}"
