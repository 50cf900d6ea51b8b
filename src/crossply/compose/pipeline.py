"""Running the steps of a pipeline, one after the other.

Each step gets the same observed state, the desired state and the context of the step before it, and its own
input and credentials. Its desired state replaces what was there: a function that drops a resource deletes it.
A fatal result, or a function that cannot be called, ends the run; what was reported until then is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from crossply.compose.effects import Effects, FetchObject, FetchSecret
from crossply.compose.errors import (
    BootstrapMissing,
    ComposeError,
    CredentialMissing,
    StepFailed,
    StepNotRun,
)
from crossply.compose.events import SYSTEM_CONDITIONS, Event, StatusCondition, condition_from, event_from
from crossply.compose.function_messages import (
    CAPABILITIES,
    NO_STATE,
    SEVERITY_FATAL,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    Result,
    SchemaSelector,
    State,
)
from crossply.compose.prepared_composition import PreparedStep
from crossply.compose.requirements import call_until_stable, fetch_resources, fetch_schema, seeded
from crossply.errors import CrossplyError
from crossply.kinds.composition import Step
from crossply.values import Object
from crossply.values.protobuf_struct import to_wire


class MessageStyle(NamedTuple):
    """The wording of messages about the steps of a pipeline."""

    failed: str
    """Begins the sentence about a step that cannot be run; `{}` is its name."""
    owner: str
    """Whose step it is, in the other sentences."""
    event: Callable[[Result, str], Event]
    """What a result of a step says."""


COMPOSITION = MessageStyle('cannot run Composition pipeline step "{}"', "Composition", event_from)


class PipelineReport:
    """What functions reported so far; it outlives a run that fails."""

    __slots__ = ("conditions", "events", "outputs", "requirements", "ttl")

    def __init__(self, requirements: Mapping[str, Requirements] | None = None) -> None:
        self.requirements: Mapping[str, Requirements] = requirements or {}
        """What each step required in the last run: fetched up front in the next one, it saves a call."""
        self.clear()

    def clear(self) -> None:
        """Start over, for a run that observes more."""
        self.events: list[Event] = []
        self.conditions: list[StatusCondition] = []
        self.outputs: dict[str, Object] = {}
        """The outputs of steps, for the status of an Operation."""
        self.ttl = 0
        """The shortest time to live in nanoseconds; 0 when no function sets one."""


class Finished(NamedTuple):
    """Where the pipeline ended."""

    desired: State
    context: Object | None


def run_pipeline(
    steps: tuple[PreparedStep, ...],
    observed: State,
    context: Object | None,
    report: PipelineReport,
    style: MessageStyle = COMPOSITION,
    capabilities: tuple[int, ...] = CAPABILITIES,
) -> Effects[Finished]:
    """The desired state after the last step."""
    desired = State()
    required_before = report.requirements
    report.requirements = {}
    for prepared in steps:
        request = yield from _request(prepared, observed, desired, context, style, capabilities)
        before = required_before.get(prepared.step.name)
        if before is not None:
            request = yield from seeded(prepared.step, request, before)
        response = yield from _call(prepared.step, request, style)
        _collect_report(prepared.step, response, report, style)
        desired = NO_STATE if response.desired is None else response.desired
        context = response.context
    return Finished(desired, context)


def _call(step: Step, request: Request, style: MessageStyle) -> Effects[Response]:
    try:
        return (yield from call_until_stable(step, request))
    except ComposeError as problem:
        raise problem.within(style.failed.format(step.name)) from None
    except CrossplyError as problem:
        # Keep the code of what really happened: its page in the docs is the one that helps.
        failure = StepNotRun(f"{style.failed.format(step.name)}: {problem}")
        failure.code, failure.hint, failure.place = problem.code, problem.hint, problem.place
        raise failure from problem


def _collect_report(step: Step, response: Response, report: PipelineReport, style: MessageStyle) -> None:
    """Add what the function reported; raises at the first fatal result."""
    if response.requirements is not None:
        report.requirements = {**report.requirements, step.name: response.requirements}
    if response.ttl is not None and response.ttl > 0 and (report.ttl == 0 or response.ttl < report.ttl):
        report.ttl = response.ttl
    for condition in response.conditions:
        if condition.type not in SYSTEM_CONDITIONS:
            report.conditions.append(condition_from(condition))
    for result in response.results:
        if result.severity == SEVERITY_FATAL:
            raise StepFailed(
                f'pipeline step "{step.name}" returned a fatal result: {result.message}',
                function=step.function,
            )
        report.events.append(style.event(result, step.name))
    if response.output is not None:
        report.outputs[step.name] = response.output


def _request(
    prepared: PreparedStep,
    observed: State,
    desired: State,
    context: Object | None,
    style: MessageStyle,
    capabilities: tuple[int, ...],
) -> Effects[Request]:
    step = prepared.step
    step_input = prepared.input.view if prepared.input is not None else None
    if step.input_ref is not None:
        step_input = yield from _referenced_input(step, style)
    if not step.credentials and not step.required_resources and not step.required_schemas:
        return Request(observed, desired, input=step_input, context=context, capabilities=capabilities)
    credentials = yield from _credentials(step, style)
    resources = yield from _bootstrap_resources(step)
    schemas = yield from _bootstrap_schemas(step)
    return Request(
        observed,
        desired,
        input=step_input,
        context=context,
        credentials=credentials,
        required_resources=resources,
        required_schemas=schemas,
        capabilities=capabilities,
    )


def _referenced_input(step: Step, style: MessageStyle) -> Effects[Object]:
    """The input that a step keeps in an object of its own."""
    ref = step.input_ref
    assert ref is not None
    try:
        obj: Object = yield FetchObject(ref)
    except CrossplyError as problem:
        raise StepNotRun(
            f'cannot get input for {style.owner} pipeline step "{step.name}": {problem}',
            hint=problem.hint,
        ) from problem
    view: Object = to_wire(obj)
    return view


def _credentials(step: Step, style: MessageStyle) -> Effects[dict[str, Mapping[str, bytes]]]:
    credentials = {}
    for credential in step.credentials:
        if credential.source != "Secret" or not credential.secret_name:
            continue
        try:
            credentials[credential.name] = yield FetchSecret(
                credential.secret_namespace, credential.secret_name
            )
        except CrossplyError as problem:
            raise CredentialMissing(
                f'cannot get {style.owner} pipeline step "{step.name}" credential "{credential.name}" '
                f"from Secret: {problem}"
            ) from problem
    return credentials


def _bootstrap_resources(step: Step) -> Effects[dict[str, tuple[Resource, ...]]]:
    resources = {}
    for want in step.required_resources:
        selector = ResourceSelector(
            want.api_version, want.kind, want.match_name, want.match_labels, want.namespace
        )
        purpose = f'cannot fetch bootstrap required resources for requirement "{want.name}"'
        try:
            resources[want.name] = yield from fetch_resources(selector, purpose)
        except StepNotRun as problem:
            raise BootstrapMissing(str(problem), hint=problem.hint) from problem
    return resources


def _bootstrap_schemas(step: Step) -> Effects[dict[str, Object | None]]:
    schemas = {}
    for want in step.required_schemas:
        purpose = f'cannot fetch bootstrap required schema for requirement "{want.name}"'
        try:
            schemas[want.name] = yield from fetch_schema(SchemaSelector(want.api_version, want.kind), purpose)
        except StepNotRun as problem:
            raise BootstrapMissing(str(problem), hint=problem.hint) from problem
    return schemas
