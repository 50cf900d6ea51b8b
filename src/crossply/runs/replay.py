"""Replaying a recorded run: the recorded world through the engine and functions of today.

The engine is driven as a controller drives it (`compose.reconcile`), with recorded answers. Only functions
are called again, unless their recorded responses are used. Writes go nowhere: they are compared with
those of then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.compose.effect_driver import Handlers, drive
from crossply.compose.effects import Call, FetchComposition, Observe
from crossply.compose.function_messages import Request, Response
from crossply.compose.in_memory_cluster import CallFunction
from crossply.compose.operation_run import operate
from crossply.compose.pipeline import PipelineReport
from crossply.compose.prepared_composition import prepare
from crossply.compose.reconcile import reconcile
from crossply.errors import CrossplyError
from crossply.kinds.composition import Composition, Step
from crossply.kinds.operation import parse_operation
from crossply.runs.comparable_writes import WrittenEffect, written_effects, written_resources
from crossply.runs.errors import RunsError
from crossply.runs.model import OPERATION, World
from crossply.runs.recorded_answers import RecordedAnswers, recorded_answer
from crossply.runs.replayed_writes import ReplayedWrites


class NotRecorded(RunsError):
    """A replay needs something that the recorded run does not have."""

    code = "CP-865"
    hint = "replay with the functions of today: leave out --recorded-functions"


class FunctionMissing(RunsError):
    """A run cannot be replayed or exported: where one of its functions comes from is not known."""

    code = "CP-866"
    hint = (
        "give its directory with --function NAME=DIR, or use what it answered then with --recorded-functions"
    )


class Replayed(NamedTuple):
    """What a replayed run did."""

    effects: tuple[WrittenEffect, ...]
    problem: CrossplyError | None
    """Why it failed, if it did."""
    notes: tuple[str, ...]
    """What had to be assumed, because it was not recorded."""


def replay(world: World, call: CallFunction, composition: Composition | None = None) -> Replayed:
    """Run the engine in a recorded world, with another Composition than the recorded one if one is given."""
    answers = RecordedAnswers(world)
    if world.engine == OPERATION:
        return _replay_operation(world, answers, call)
    writes = ReplayedWrites(world, answers)
    handlers = {
        **answers.handlers(),
        **writes.handlers(),
        Observe: lambda effect: writes.observe(_recorded(answers, effect)),
        FetchComposition: lambda effect: (
            _recorded(answers, effect) if composition is None else prepare(composition)
        ),
        Call: lambda effect: call(effect.step, effect.request),
    }
    work = reconcile(world.xr, world.settings(), PipelineReport(world.required))
    problem = _drive(work, handlers, world)[1]
    return Replayed(written_effects(writes.effects), problem, tuple(answers.notes))


def recorded_effects(world: World) -> tuple[WrittenEffect, ...]:
    """What the recorded run wrote, or tried to write; of an Operation, what its functions wanted."""
    if world.engine == OPERATION:
        return _replay_operation(world, RecordedAnswers(world), recorded_call(world)).effects
    return written_effects(exchange.effect for exchange in world.exchanges)


def recorded_call(world: World) -> CallFunction:
    """Functions that answer what they answered then, call by call."""
    answers = RecordedAnswers(world)

    def call(step: Step, request: Request) -> Response:
        exchange = answers.next(Call(step, request))
        if exchange is None:
            raise NotRecorded(f'the run did not call a function for the step "{step.name}"')
        response: Response = recorded_answer(exchange)
        return response

    return call


def _replay_operation(world: World, answers: RecordedAnswers, call: CallFunction) -> Replayed:
    work = operate(parse_operation(world.xr), world.context, PipelineReport(), world.capabilities)
    handlers = {**answers.handlers(), Call: lambda effect: call(effect.step, effect.request)}
    operated, problem = _drive(work, handlers, world)
    effects = () if operated is None else written_resources(operated)
    return Replayed(effects, problem, tuple(answers.notes))


def _recorded(answers: RecordedAnswers, effect: Any) -> Any:
    exchange = answers.next(effect)
    if exchange is None:
        raise NotRecorded(
            "the run ended before it read its Composition", hint="look at it: crossply runs show"
        )
    return recorded_answer(exchange)


class _RunInterrupted(Exception):
    """The recorded run ended here without a report."""


def _drive(work: Any, handlers: Handlers, world: World) -> tuple[Any, CrossplyError | None]:
    """The result of the run, or why it failed; neither where the recorded run was interrupted."""
    if world.interruption:
        handlers = _interrupted_after(handlers, len(world.exchanges))
    try:
        return drive(work, handlers), None
    except CrossplyError as problem:
        return None, problem
    except _RunInterrupted:
        return None, None


def _interrupted_after(handlers: Handlers, count: int) -> Handlers:
    left = iter(range(count))

    def limited(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def handle(effect: Any) -> Any:
            if next(left, None) is None:
                raise _RunInterrupted
            return handler(effect)

        return handle

    return {kind: limited(handler) for kind, handler in handlers.items()}
