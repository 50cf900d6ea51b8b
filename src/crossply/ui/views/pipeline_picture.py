"""The pipeline of a Composition as a picture: its steps in order, their functions and the health of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from crossply.errors import CrossplyError
from crossply.kinds.composition import Pipeline, Step, parse_steps
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.kinds.composition_revision import parse_pipeline
from crossply.kinds.fields import Fields
from crossply.ui.views.object_health import BAD, OK, Health, package_health
from crossply.ui.views.short_text import block, cut
from crossply.values import Object

MAX_STEPS = 100


class PictureStep(NamedTuple):
    """One step."""

    number: int
    name: str
    function: str
    """Empty for a step that is built into the engine."""
    health: Health
    facts: tuple[str, ...]
    input: str
    """The step's input as YAML."""


class Picture(NamedTuple):
    """A pipeline from the composite resource to what it is composed of."""

    kind: str
    api_version: str
    steps: tuple[PictureStep, ...]
    problem: str = ""
    """Why the pipeline cannot be read."""


def pipeline_picture(obj: Object, functions: Mapping[str, Object]) -> Picture:
    """The picture of a Composition or CompositionRevision; `functions` are the Functions by name."""
    try:
        pipeline: Pipeline = parse_pipeline(obj)
    except CrossplyError as problem:
        return Picture("", "", (), str(problem))
    steps = pipeline.steps[:MAX_STEPS]
    return Picture(
        cut(pipeline.composite.kind),
        cut(pipeline.composite.api_version),
        tuple(_step(number, step, functions) for number, step in enumerate(steps, 1)),
    )


def operation_picture(obj: Object, functions: Mapping[str, Object]) -> Picture:
    """The picture of an Operation, or of what a CronOperation or WatchOperation makes."""
    spec = _dict(obj.get("spec"))
    template = _dict(_dict(spec.get("operationTemplate")).get("spec")) or spec
    try:
        steps = parse_steps(Fields(template))[:MAX_STEPS]
    except CrossplyError as problem:
        return Picture("", "", (), str(problem))
    return Picture(
        cut(str(obj.get("kind") or "")),
        cut(str(obj.get("apiVersion") or "")),
        tuple(_step(number, step, functions) for number, step in enumerate(steps, 1)),
    )


def _step(number: int, step: Step, functions: Mapping[str, Object]) -> PictureStep:
    native = step.function == NATIVE_FUNCTION or step.container is not None
    return PictureStep(
        number=number,
        name=cut(step.name, 80),
        function="" if native else cut(step.function, 80),
        health=Health(OK, "Built in") if native else function_health(step.function, functions),
        facts=tuple(step_facts(step)),
        input=block(step.input, 20_000) if step.input else "",
    )


def function_health(name: str, functions: Mapping[str, Object]) -> Health:
    """The health of the function that a step calls."""
    if name not in functions:
        return Health(BAD, "Missing", f'there is no Function "{cut(name, 80)}"')
    return package_health(functions[name])


def step_facts(step: Step) -> list[str]:
    """What a step says beside its function, in a few words each."""
    facts = []
    source = step.input or {}
    if source.get("kind"):
        facts.append(f"input {cut(str(source['kind']), 60)}")
    resources = source.get("resources")
    if isinstance(resources, list) and resources:
        facts.append(_counted(len(resources), "resource"))
    template = _dict(source.get("inline")).get("template")
    if isinstance(template, str):
        facts.append(_counted(template.count("\n") + 1, "line") + " of template")
    if step.credentials:
        facts.append(_counted(len(step.credentials), "credential"))
    if step.required_resources:
        facts.append(_counted(len(step.required_resources), "required resource"))
    if step.function_revision_ref:
        facts.append(f"pinned to {cut(step.function_revision_ref, 80)}")
    return facts


def called_functions(obj: Object) -> set[str]:
    """The names of the Functions that the pipeline of an object calls."""
    spec = _dict(obj.get("spec"))
    steps = spec.get("pipeline")
    if not isinstance(steps, list):
        return set()
    names = (_dict(_dict(step).get("functionRef")).get("name") for step in steps)
    return {name for name in names if isinstance(name, str)}


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _dict(value: Any) -> Object:
    return value if isinstance(value, dict) else {}
