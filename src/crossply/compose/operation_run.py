"""The engine of Operations: one run of a pipeline that observes nothing and composes nothing.

What the last step wants is applied as it is: nothing gets a name, an owner or a namespace here. What is
observed comes to functions as what they require.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.compose.conditions import SYNCED, failed, read_conditions, set_conditions
from crossply.compose.effects import Effects
from crossply.compose.errors import BootstrapMissing, ComposeError, OperationResourceError
from crossply.compose.events import NORMAL, WARNING, Event, StatusCondition
from crossply.compose.function_messages import (
    CAPABILITIES,
    NO_STATE,
    SEVERITY_NORMAL,
    SEVERITY_UNSPECIFIED,
    Result,
)
from crossply.compose.object_metadata import metadata_of, name_of, namespace_of, text_in
from crossply.compose.pipeline import MessageStyle, PipelineReport, run_pipeline
from crossply.compose.prepared_composition import prepare_steps
from crossply.kinds.operation import Operation
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire

RUN_STEP = "RunPipelineStep"
FUNCTION_INVOCATION = "FunctionInvocation"
INVALID_RESOURCE = "InvalidResource"
BOOTSTRAP_REQUIREMENTS = "BootstrapRequirements"

RUNNING = StatusCondition("Succeeded", "Unknown", "PipelineRunning")
SUCCEEDED = StatusCondition("Succeeded", "True", "PipelineSuccess")
FAILED = StatusCondition("Succeeded", "False", "PipelineError")
VALID_PIPELINE = StatusCondition("ValidPipeline", "True", "ValidPipeline")


class OperationResource(NamedTuple):
    """A resource to apply, and the name that functions know it by."""

    name: str
    object: Object


class Operated(NamedTuple):
    """Where the pipeline ended."""

    resources: tuple[OperationResource, ...]
    context: Object | None


def operate(
    operation: Operation,
    context: Object,
    report: PipelineReport,
    capabilities: tuple[int, ...] = CAPABILITIES,
) -> Effects[Operated]:
    """Run the pipeline. `report` keeps what functions reported, also when the run fails."""
    steps = prepare_steps(operation.steps)
    finished = yield from run_pipeline(steps, NO_STATE, context, report, _STYLE, capabilities)
    desired = finished.desired.resources
    resources = tuple(OperationResource(name, from_wire(desired[name].object)) for name in sorted(desired))
    for resource in resources:
        _check(resource)
    return Operated(resources, finished.context)


def _event(result: Result, step: str) -> Event:
    """The event of a result. Its reason and target count for composite resources only."""
    if result.severity == SEVERITY_UNSPECIFIED:
        prefix = f'Pipeline step "{step}" returned a result of unknown severity (assuming warning): '
        return Event(WARNING, RUN_STEP, prefix + result.message)
    kind = NORMAL if result.severity == SEVERITY_NORMAL else WARNING
    return Event(kind, RUN_STEP, f'Pipeline step "{step}": {result.message}')


_STYLE = MessageStyle('failed to invoke pipeline step "{}"', "operation", _event)


def _check(resource: OperationResource) -> None:
    """An Operation gives nothing a name: what it applies must have all that identifies it."""
    missing = [key for key in ("apiVersion", "kind") if not text_in(resource.object, key)]
    if not name_of(resource.object):
        missing.append("metadata.name")
    if missing:
        raise OperationResourceError(
            f'cannot apply desired resource "{resource.name}": it has no {" and no ".join(missing)}'
        )


def reason_of(problem: ComposeError) -> str:
    """The reason of the event about a failure."""
    if isinstance(problem, BootstrapMissing):
        return BOOTSTRAP_REQUIREMENTS
    return INVALID_RESOURCE if isinstance(problem, OperationResourceError) else FUNCTION_INVOCATION


def is_complete(operation: Object) -> bool:
    """Whether an Operation came to its end, well or not: it never runs again."""
    return any(
        condition["type"] == RUNNING.type and condition["status"] in ("True", "False")
        for condition in read_conditions(operation.get("status"))
    )


def with_status(operation: Object, changes: Iterable[StatusCondition], now: str, **fields: object) -> Object:
    """The Operation with conditions set, and other fields of its status."""
    status = operation.get("status")
    status = status if isinstance(status, dict) else {}
    generation = metadata_of(operation).get("generation")
    generation = generation if type(generation) is int else 0
    conditions = set_conditions(read_conditions(status), changes, now, generation)
    return {**operation, "status": {**status, **fields, "conditions": conditions}}


def at_the_limit(operation: Object, limit: int, now: str) -> Object:
    """The Operation that failed so often that it is not tried again."""
    return with_status(operation, (SYNCED, FAILED._replace(message=f"failure limit of {limit} reached")), now)


def failures_of(operation: Object) -> int:
    """How often it failed so far."""
    status = operation.get("status")
    failures = status.get("failures") if isinstance(status, dict) else 0
    return failures if type(failures) is int else 0


def after_failure(operation: Object, problem: str, now: str, *others: StatusCondition) -> Object:
    """The Operation after a run that failed."""
    failures = failures_of(operation) + 1
    return with_status(operation, (failed(problem), *others), now, failures=failures)


def with_outputs(operation: Object, report: PipelineReport) -> Object:
    """The Operation with what its steps put out, each under the name of its step."""
    if not report.outputs:
        return operation
    status = operation.get("status") or {}
    outputs = {entry.get("step"): entry for entry in _entries(status, "pipeline")}
    outputs |= {step: {"step": step, "output": from_wire(out)} for step, out in report.outputs.items()}
    return {**operation, "status": {**status, "pipeline": list(outputs.values())}}


def with_applied(operation: Object, applied: Object) -> Object:
    """The Operation that applied a resource; what it applied is kept in order."""
    reference = {key: text_in(applied, key) for key in ("apiVersion", "kind")}
    if namespace_of(applied):
        reference["namespace"] = namespace_of(applied)
    reference["name"] = name_of(applied)
    status = operation.get("status") or {}
    references = _entries(status, "appliedResourceRefs")
    if reference not in references:
        references.append(reference)
    references.sort(key=_place)
    return {**operation, "status": {**status, "appliedResourceRefs": references}}


def _entries(status: Object, key: str) -> list[Object]:
    """A list of objects in a status, which a file may give in any form."""
    entries = status.get(key)
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _place(reference: Object) -> str:
    return "".join(str(reference.get(key, "")) for key in ("apiVersion", "kind", "namespace", "name"))
