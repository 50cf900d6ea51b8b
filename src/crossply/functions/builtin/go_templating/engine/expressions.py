"""Pipelines, commands and operands, compiled into closures."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.engine import arguments, fields
from crossply.functions.builtin.go_templating.engine.calls import Stage, call, method_call
from crossply.functions.builtin.go_templating.engine.compile_scope import Compiled, Scope
from crossply.functions.builtin.go_templating.engine.errors import ErrorSite
from crossply.functions.builtin.go_templating.engine.go_types import NO_VALUE
from crossply.functions.builtin.go_templating.engine.nodes import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    NumberNode,
    Operand,
    Pipe,
    String,
    Variable,
)
from crossply.functions.builtin.go_templating.engine.render_state import Evaluate, Frame
from crossply.functions.builtin.go_templating.engine.signatures import ANY


def pipeline(scope: Scope, pipe: Pipe) -> Compiled:
    """Compile a pipeline; its result is also stored in the variables it declares."""
    with scope.nested():
        first = _command(scope, pipe.commands[0], scope.at(pipe))
        last = first.last
        stages: list[Stage] = []
        for command in pipe.commands[1:]:
            stage, last = _stage(scope, command, last)
            stages.append(stage)
    run = _piped(first.run, tuple(stages)) if stages else first.run
    if pipe.declared:
        places = slots(scope, pipe)
        run = scope.on_store(places, _stored(run, places, last, pipe))
    return Compiled(run, last)


def slots(scope: Scope, pipe: Pipe) -> tuple[int | None, ...]:
    """The slots of the variables of a pipeline; None for one that is assigned but not declared."""
    find = scope.slot if pipe.is_assignment else scope.declare
    return tuple(find(variable.names[0]) for variable in pipe.declared)


def _piped(first: Evaluate, stages: tuple[Stage, ...]) -> Evaluate:
    def run(frame: Frame, dot: Any) -> Any:
        value = first(frame, dot)
        for stage in stages:
            value = stage(frame, dot, NO_VALUE if value is None else value)
        return value

    return run


def _stored(run: Evaluate, places: tuple[int | None, ...], last: ErrorSite, pipe: Pipe) -> Evaluate:
    def store(frame: Frame, dot: Any) -> Any:
        value = run(frame, dot)
        for slot in places:
            if slot is None:
                raise last.error(f"undefined variable: {pipe.declared[0]}")
            frame.variables[slot] = NO_VALUE if value is None else value
        return value

    return store


def _command(scope: Scope, command: Command, before: ErrorSite) -> Compiled:
    """The first command of a pipeline."""
    word = command.args[0]
    if isinstance(word, Identifier):
        return call(scope, word, command, command.args[1:], operand)
    if len(command.args) > 1:
        stage, last = _stage(scope, command, before)
        return Compiled(lambda frame, dot: stage(frame, dot, arguments.ABSENT), last, boxed=True)
    if isinstance(word, Nil):
        return _failing(scope.at(word), "nil is not a command")
    return operand(scope, word)


def _stage(scope: Scope, command: Command, before: ErrorSite) -> tuple[Stage, ErrorSite]:
    """A command with arguments, or with the result of the previous one."""
    word = command.args[0]
    if isinstance(word, Identifier):
        compiled = call(scope, word, command, command.args[1:], operand, piped=True)
        return compiled.run, compiled.last  # type: ignore[return-value]
    if isinstance(word, Field | Chain) or (isinstance(word, Variable) and len(word.names) > 1):
        stage, last = method_call(scope, _receiver(scope, word), word, command.args[1:], operand)
        return scope.on_method(stage), last
    site = before if isinstance(word, Pipe) else scope.at(word)
    return _refusing(site, f"can't give argument to non-function {word}"), site


def _receiver(scope: Scope, word: Field | Chain | Variable) -> Compiled:
    """The operand before the last field."""
    shorter = word._replace(names=word.names[:-1])
    if shorter.names:
        return operand(scope, shorter)
    return operand(scope, word.node if isinstance(word, Chain) else Dot(word.at))


def _refusing(site: ErrorSite, message: str) -> Stage:
    def run(frame: Frame, dot: Any, final: Any) -> Any:
        raise site.error(message)

    return run


def _failing(site: ErrorSite, message: str) -> Compiled:
    def run(frame: Frame, dot: Any) -> Any:
        raise site.error(message)

    return Compiled(run, site)


def operand(scope: Scope, node: Operand) -> Compiled:
    """An operand without arguments."""
    site = scope.at(node)
    if isinstance(node, Field):
        run = scope.on_read(node, fields.of_dot(node.names, site, scope.dot_is_boxed))
        return Compiled(run, site, boxed=True)
    if isinstance(node, Variable):
        return _variable(scope, node, site)
    if isinstance(node, Pipe):
        return pipeline(scope, node)
    if isinstance(node, Identifier):
        return call(scope, node, node, (), operand)
    if isinstance(node, Dot):
        return Compiled(scope.on_read(node, lambda frame, dot: dot), site, boxed=scope.dot_is_boxed)
    if isinstance(node, Chain):
        return _chain(scope, node, site)
    return _constant(scope, node, site)


def _variable(scope: Scope, node: Variable, site: ErrorSite) -> Compiled:
    slot = scope.slot(node.names[0])
    if slot is None:
        return _failing(site, f"undefined variable: {node.names[0]}")
    if len(node.names) > 1:
        boxed = scope.is_boxed(slot)
        run = scope.on_read(node, fields.of_variable(slot, node.names[1:], site, boxed))
        return Compiled(run, site, boxed=True)
    return Compiled(scope.on_read(node, lambda frame, dot: frame.variables[slot]), site, boxed=True)


def _chain(scope: Scope, node: Chain, site: ErrorSite) -> Compiled:
    if isinstance(node.node, Nil):
        return _failing(site, f"indirection through explicit nil in {node}")
    inner = operand(scope, node.node)
    run = scope.on_read(node, fields.of_expression(scope.on_chain(inner.run), node.names, inner.last))
    return Compiled(run, inner.last, boxed=True)


def _constant(scope: Scope, node: Nil | Bool | NumberNode | String, site: ErrorSite) -> Compiled:
    if isinstance(node, Nil):
        return Compiled(scope.on_read(node, lambda frame, dot: None), site)
    return Compiled(scope.on_read(node, arguments.fixed(node, ANY, site)), site)
