"""What a body of a template may change: variables, maps, and whether the loop around it continues."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from crossply.functions.builtin.go_templating.engine.function_taints import CHANGES_A_MAP
from crossply.functions.builtin.go_templating.engine.nodes import (
    Action,
    Body,
    Branch,
    Call,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Jump,
    Operand,
    Pipe,
    Variable,
)


class Assignments(NamedTuple):
    """The slots of changed variables, and changed maps: the slot of a variable (None: the dot) and names."""

    slots: frozenset[int]
    maps: tuple[tuple[int | None, tuple[str, ...]], ...]
    jumps: bool


def assignments_in(body: Body, slot_of: Callable[[str], int | None]) -> Assignments:
    """Find what a body changes outside of itself; `slot_of` finds variables that are declared there."""
    slots: set[int] = set()
    maps: list[tuple[int | None, tuple[str, ...]]] = []
    jumps = False
    for statement in _statements(body):
        if isinstance(statement, Jump):
            jumps = True
        for pipe in _pipes(statement):
            names = [variable.names[0] for variable in pipe.declared] if pipe.is_assignment else []
            slots.update(slot for name in names if (slot := slot_of(name)) is not None)
            for target in _changed_maps(pipe):
                place = _place(target, slot_of)
                maps += [] if place is None else [place]
    return Assignments(frozenset(slots), tuple(maps), jumps)


def _statements(body: Body) -> Iterator[Action | Branch | Call | Jump]:
    for statement in body:
        if isinstance(statement, Action | Branch | Call | Jump):
            yield statement
        if isinstance(statement, Branch):
            yield from _statements(statement.body)
            yield from _statements(statement.otherwise or ())


def _pipes(statement: Action | Branch | Call | Jump) -> Iterator[Pipe]:
    if isinstance(statement, Jump) or statement.pipe is None:
        return
    pending: list[Operand] = [statement.pipe]
    while pending:
        operand = pending.pop()
        if isinstance(operand, Chain):
            pending.append(operand.node)
        if isinstance(operand, Pipe):
            yield operand
            pending += [argument for command in operand.commands for argument in command.args]


def _changed_maps(pipe: Pipe) -> Iterator[Operand]:
    """The first argument of each function that changes it; with one argument less, the last result."""
    before: Command | None = None
    for command in pipe.commands:
        word = command.args[0]
        if isinstance(word, Identifier) and word.name in CHANGES_A_MAP:
            source = command.args[1:] or (before.args if before is not None else ())
            yield from source
        before = command


def _place(
    target: Operand, slot_of: Callable[[str], int | None]
) -> tuple[int | None, tuple[str, ...]] | None:
    if isinstance(target, Dot):
        return None, ()
    if isinstance(target, Field):
        return None, target.names
    if isinstance(target, Variable):
        slot = slot_of(target.names[0])
        return None if slot is None else (slot, target.names[1:])
    return None
