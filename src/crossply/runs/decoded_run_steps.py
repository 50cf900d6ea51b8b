"""A decoded run as people look at it: steps with their rounds, and effects."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.compose import effects
from crossply.compose.function_messages import Resource
from crossply.compose.selection import match_labels
from crossply.runs.capture import CallNote
from crossply.runs.decoding import DecodedRun
from crossply.runs.function_message_json import (
    condition_json,
    request_json,
    requirements_json,
    response_json,
    result_json,
    state_json,
)
from crossply.runs.model import Exchange, Round, Run, RunSummary, StepRun, World
from crossply.runs.run_effects import effect_runs
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire

_Called = list[tuple[int, Exchange, CallNote | None]]
"""The calls of one step, each with its position among the exchanges."""


def assemble(summary: RunSummary, decoded: DecodedRun, redacted: int) -> Run:
    """The whole run."""
    world = decoded.world
    steps = tuple(_steps(world, decoded.calls))
    requests = [exchange.effect.request for exchange in world.exchanges if _is_call(exchange)]
    state = requests[-1].observed if requests else None
    composite = world.xr if state is None or state.composite is None else _object(state.composite)
    observed = {} if state is None else {name: _object(known) for name, known in state.resources.items()}
    changes = tuple(effect_runs(decoded))
    return Run(summary, _explain_selection(world), composite, observed, steps, changes, world, redacted)


def _object(resource: Resource) -> Object:
    return resource.object if resource.snapshot is None else resource.snapshot.object


def _is_call(exchange: Exchange) -> bool:
    return isinstance(exchange.effect, effects.Call)


def _steps(world: World, calls: list[CallNote | None]) -> Iterator[StepRun]:
    """The steps in the order in which they ran."""
    notes = iter(calls)
    pipeline = 1
    pending: _Called = []
    ran: set[str] = set()
    for position, exchange in enumerate(world.exchanges):
        if isinstance(exchange.effect, effects.FetchComposition) and ran:
            if pending:
                yield _step(world, pending, pipeline)
            pipeline, pending, ran = pipeline + 1, [], set()
        if not _is_call(exchange):
            continue
        if pending and pending[-1][1].effect.step.name != exchange.effect.step.name:
            yield _step(world, pending, pipeline)
            pending = []
        ran.add(exchange.effect.step.name)
        pending.append((position, exchange, next(notes)))
    if pending:
        yield _step(world, pending, pipeline)


def _step(world: World, called: _Called, pipeline: int) -> StepRun:
    rounds = tuple(_round(world, position, exchange, note) for position, exchange, note in called)
    first, last = called[0][1], called[-1][1]
    step, request, response = first.effect.step, first.effect.request, last.answer
    note = called[-1][2]
    return StepRun(
        name=step.name,
        function=step.function,
        function_revision=note.revision if note is not None else "",
        seconds=sum(round_.seconds for round_ in rounds),
        offset=first.offset,
        rounds=rounds,
        results=() if response is None else tuple(result_json(result) for result in response.results),
        conditions=()
        if response is None
        else tuple(condition_json(condition) for condition in response.conditions),
        desired_before=state_json(request.desired),
        desired_after=state_json(response.desired) if response is not None else state_json(request.desired),
        context_before=from_wire(request.context) if request.context else {},
        context_after=from_wire(response.context) if response is not None and response.context else {},
        pipeline=pipeline,
        problem=rounds[-1].problem or _fatal(rounds[-1].response),
    )


def _fatal(response: Object) -> str:
    fatal = (result for result in response.get("results", ()) if result["severity"] == "SEVERITY_FATAL")
    return next((result["message"] for result in fatal), "")


def _round(world: World, position: int, exchange: Exchange, note: CallNote | None) -> Round:
    response = exchange.answer
    requirements = requirements_json(response.requirements) if response is not None else {}
    return Round(
        request=request_json(exchange.effect.request),
        response={} if response is None else response_json(response),
        seconds=exchange.seconds,
        cached=note.cached if note is not None else False,
        requirements=requirements,
        required=_required_objects(world, position, exchange) if requirements else {},
        offset=exchange.offset,
        problem="" if exchange.problem is None else str(exchange.problem),
    )


def _required_objects(world: World, position: int, exchange: Exchange) -> Object:
    """What was read between this call and the next, by the names in the response's requirements.

    A function that asks for what it asked for before has been sent it: it is not read again.
    """
    requirements = exchange.answer.requirements
    objects = _sent(exchange)
    for answered in world.exchanges[position + 1 :]:
        effect = answered.effect
        if not isinstance(effect, effects.FetchResources | effects.FetchSchema):
            break
        for names in (requirements.extra_resources, requirements.resources, requirements.schemas):
            for name, selector in names.items():
                if selector == effect.selector:
                    objects[name] = _read(answered)
    return objects


def _sent(exchange: Exchange) -> Object:
    """What the request had of what the response asks for."""
    requirements, request = exchange.answer.requirements, exchange.effect.request
    objects: Object = {}
    for names, sent in (
        (requirements.extra_resources, request.extra_resources),
        (requirements.resources, request.required_resources),
    ):
        objects |= {name: [_object(resource) for resource in sent[name]] for name in names if name in sent}
    schemas = request.required_schemas
    return objects | {name: schemas[name] for name in requirements.schemas if name in schemas}


def _read(answered: Exchange) -> object:
    if answered.problem is not None:
        return f"cannot be read: {answered.problem}"
    if isinstance(answered.effect, effects.FetchSchema):
        return answered.answer
    return [snapshot.object for snapshot in answered.answer]


def _explain_selection(world: World) -> str:
    """Why this Composition and this revision, in one sentence; empty where none was selected."""
    sentence = ""
    for exchange in world.exchanges:
        effect, selected = exchange.effect, exchange.answer
        if isinstance(effect, effects.SelectComposition) and selected is not None:
            sentence = f"Composition {selected.name}: {_composition_reason(world, effect.xr)}"
        elif isinstance(effect, effects.SelectRevision) and selected is not None:
            reason = _revision_reason(world, effect.xr)
            return f"{sentence}; revision {selected.name}: {reason}"
    return sentence


def _composition_reason(world: World, xr: Object) -> str:
    definition, machinery = world.definition, world.machinery
    if definition is not None and definition.enforced_composition:
        return "the definition enforces it"
    if machinery.name_in(xr, "compositionRef"):
        return "the composite resource refers to it"
    labels = match_labels(machinery.read(xr, "compositionSelector"))
    if definition is not None and definition.default_composition and not labels:
        return "it is the definition's default"
    return f"selected by the labels {_labels(labels)}" if labels else "it is for this kind"


def _revision_reason(world: World, xr: Object) -> str:
    machinery = world.machinery
    policy = machinery.read(xr, "compositionUpdatePolicy")
    if policy is None and world.definition is not None:
        policy = world.definition.default_update_policy
    if policy == "Manual":
        pinned = machinery.name_in(xr, "compositionRevisionRef")
        return "pinned by compositionUpdatePolicy Manual" if pinned else "the newest; now pinned (Manual)"
    labels = match_labels(machinery.read(xr, "compositionRevisionSelector"))
    return f"the newest with the labels {_labels(labels)}" if labels else "the newest"


def _labels(labels: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
