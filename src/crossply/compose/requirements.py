"""Calling one function until it has all it asks for.

A function may answer with requirements: resources and schemas it wants to see. It is then called again with
them, and with its own context, until it asks for nothing new. Its desired state always starts from the same
place, so the last answer is the whole answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crossply.compose.allowed_extra_resources import is_allowed
from crossply.compose.effects import Call, Effects, FetchResources, FetchSchema
from crossply.compose.errors import (
    ExtraResourcesDisabled,
    RequirementRefused,
    RequirementsUnstable,
    StepNotRun,
    TooManyRequirements,
)
from crossply.compose.function_messages import (
    REQUIRED_RESOURCES,
    SEVERITY_FATAL,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    SchemaSelector,
)
from crossply.compose.watch_requirements import WatchedResources
from crossply.errors import CrossplyError
from crossply.kinds.composition import Step
from crossply.values import Object

MAX_ITERATIONS = 5
"""How often a function is called again because of its requirements, unless its step says otherwise."""
MOST_ITERATIONS = 100
"""How often at most, whatever its step says."""
MOST_REQUIREMENTS = 1_000
"""How many resources, schemas and watches one step may ask for in all."""


class Answers(NamedTuple):
    """The required resources that a function is sent."""

    resources: Mapping[str, tuple[Resource, ...]]
    extra_resources: Mapping[str, tuple[Resource, ...]]
    schemas: Mapping[str, Object | None]


def seeded(step: Step, request: Request, before: Requirements) -> Effects[Request]:
    """The request with what the step required in the last run, unless it is there already.

    What cannot be fetched is left out: if the function still requires it, the failure is reported then.
    """
    resources = yield from _fetch_available(step, before.resources)
    extra = yield from _fetch_available(step, before.extra_resources)
    if not resources and not extra:
        return request
    return Request(
        request.observed,
        request.desired,
        input=request.input,
        context=request.context,
        extra_resources={**extra, **request.extra_resources},
        credentials=request.credentials,
        required_resources={**resources, **request.required_resources},
        required_schemas=request.required_schemas,
        capabilities=request.capabilities,
    )


def _fetch_available(
    step: Step, selectors: Mapping[str, ResourceSelector]
) -> Effects[dict[str, tuple[Resource, ...]]]:
    fetched: dict[str, tuple[Resource, ...]] = {}
    for name, selector in sorted(selectors.items()):
        try:
            fetched |= yield from _fetch_all(step, {name: selector})
        except CrossplyError:
            continue
    return fetched


def call_until_stable(step: Step, request: Request) -> Effects[Response]:
    """The function's final answer, with everything that any call required to be watched."""
    limit = _most_iterations(step)
    initial = Answers(request.required_resources, request.extra_resources, request.required_schemas)
    watched = WatchedResources(step)
    watched.permit(initial.resources, initial.extra_resources)
    required_before: Requirements | None = None
    iteration = 0
    while True:
        response: Response = yield Call(step, request)
        if REQUIRED_RESOURCES not in request.capabilities:
            response = _refuse_resources(response)
        watched.add(response.requirements)
        _check_count(step, response.requirements, len(watched))
        required = _without_watches(response.requirements)
        if required == required_before or is_fatal(response):
            return watched.into(response)
        required_before = required
        answers = yield from _answer(step, required or Requirements(), initial)
        watched.permit(answers.resources, answers.extra_resources)
        if iteration == 0 and answers == initial:
            return watched.into(response)
        if iteration == limit:
            raise RequirementsUnstable(
                f"requirements didn't stabilize after the maximum number of iterations ({limit})"
            )
        iteration += 1
        request = request.with_requirements(
            response.context, answers.resources, answers.extra_resources, answers.schemas
        )


def _most_iterations(step: Step) -> int:
    if step.max_iterations is None:
        return MAX_ITERATIONS
    return MOST_ITERATIONS if step.max_iterations < 0 else min(step.max_iterations, MOST_ITERATIONS)


def _check_count(step: Step, requirements: Requirements | None, watched: int) -> None:
    """Refuse more than one step may ask for: each is a request, and a part of a watch."""
    requirements = requirements or Requirements()
    count = (
        len(requirements.resources) + len(requirements.extra_resources) + len(requirements.schemas) + watched
    )
    if count > MOST_REQUIREMENTS:
        raise TooManyRequirements(
            f'step "{step.name}" asks for {count} resources, schemas and watches, and may ask for at most '
            f"{MOST_REQUIREMENTS}"
        )


def _refuse_resources(response: Response) -> Response:
    """The answer without watches; one that asks for resources is refused.

    It is not taken as it is: a function that waits for resources desires nothing yet, so what it composed
    before would be deleted.
    """
    requirements = response.requirements
    if requirements is None:
        return response
    if requirements.resources or requirements.extra_resources:
        raise ExtraResourcesDisabled(
            "the function asks for extra resources, which are disabled "
            "(--enable-composition-functions-extra-resources=false)"
        )
    return response._replace(requirements=requirements._replace(watch_resources=()))


def _without_watches(requirements: Requirements | None) -> Requirements | None:
    """What is fetched; a function that only requires something else to be watched has all that it needs."""
    if requirements is None or not requirements.watch_resources:
        return requirements
    return requirements._replace(watch_resources=())


def is_fatal(response: Response) -> bool:
    """Whether the function gave up."""
    return any(result.severity == SEVERITY_FATAL for result in response.results)


def _answer(step: Step, requirements: Requirements, initial: Answers) -> Effects[Answers]:
    """The initial requirements, overridden by the current ones."""
    extra = yield from _fetch_all(step, requirements.extra_resources)
    resources = yield from _fetch_all(step, requirements.resources)
    schemas = {}
    for name, selector in sorted(requirements.schemas.items()):
        schemas[name] = yield from fetch_schema(selector, f"fetching schema for {name}")
    return Answers({**initial.resources, **resources}, extra, {**initial.schemas, **schemas})


def _fetch_all(
    step: Step, selectors: Mapping[str, ResourceSelector]
) -> Effects[dict[str, tuple[Resource, ...]]]:
    fetched = {}
    for name, selector in sorted(selectors.items()):
        _check_allowed(step, name, selector)
        fetched[name] = yield from fetch_resources(selector, f"fetching resources for {name}")
    return fetched


def fetch_resources(selector: ResourceSelector, purpose: str) -> Effects[tuple[Resource, ...]]:
    """The selected resources as a function sees them; never with connection details."""
    try:
        snapshots = yield FetchResources(selector)
    except CrossplyError as problem:
        raise StepNotRun(f"{purpose}: {problem}", hint=problem.hint) from problem
    return tuple(Resource.of(snapshot) for snapshot in snapshots)


def fetch_schema(selector: SchemaSelector, purpose: str) -> Effects[Object | None]:
    """The OpenAPI schema of a kind, or None where there is no such kind."""
    try:
        schema: Object | None = yield FetchSchema(selector)
    except CrossplyError as problem:
        raise StepNotRun(f"{purpose}: {problem}", hint=problem.hint) from problem
    return schema


def _check_allowed(step: Step, name: str, selector: ResourceSelector) -> None:
    if is_allowed(step, selector):
        return
    raise RequirementRefused(
        f'step "{step.name}" does not allow its function to ask for {selector.kind} '
        f'({selector.api_version}) as "{name}"'
    )
