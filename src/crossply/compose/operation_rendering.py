"""One run of an Operation in memory: what `operation render` shows."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.conditions import SYNCED
from crossply.compose.effect_driver import drive
from crossply.compose.errors import ComposeError
from crossply.compose.events import WARNING, Event
from crossply.compose.function_messages import ResourceSelector, SchemaSelector
from crossply.compose.in_memory_cluster import CallFunction, InMemoryCluster, InMemoryReads
from crossply.compose.in_memory_reconcile import NOW, RESOURCE_VERSION
from crossply.compose.object_metadata import metadata_of
from crossply.compose.operation_run import (
    RUNNING,
    SUCCEEDED,
    VALID_PIPELINE,
    after_failure,
    at_the_limit,
    failures_of,
    is_complete,
    operate,
    reason_of,
    with_applied,
    with_outputs,
    with_status,
)
from crossply.compose.pipeline import PipelineReport
from crossply.kinds.operation import parse_operation
from crossply.values import Object


class RenderedOperation(NamedTuple):
    """What a run would have written and recorded."""

    operation: Object | None
    """Nothing where nothing would have been written: it is deleted, or complete."""
    applied: tuple[Object, ...] = ()
    events: tuple[Event, ...] = ()
    context: Object | None = None
    required_resources: tuple[ResourceSelector, ...] = ()
    required_schemas: tuple[SchemaSelector, ...] = ()


class OperationRendering:
    """One run. What was reported and required stays readable when it fails."""

    __slots__ = ("_operation", "_reads", "report")

    def __init__(self, cluster: InMemoryCluster, call: CallFunction) -> None:
        self._reads = InMemoryReads(cluster, call)
        self._operation: Object = {}
        self.report = PipelineReport()

    def run(self, operation: Object, context: Object) -> RenderedOperation:
        """Run the Operation once."""
        operation = {**operation, "metadata": {**metadata_of(operation), "resourceVersion": RESOURCE_VERSION}}
        if metadata_of(operation).get("deletionTimestamp") or is_complete(operation):
            return RenderedOperation(None)
        parsed = parse_operation(operation)
        if failures_of(operation) >= parsed.retry_limit:
            return RenderedOperation(at_the_limit(operation, parsed.retry_limit, NOW))
        self._operation = operation = with_status(operation, (RUNNING, VALID_PIPELINE), NOW)
        operated = drive(operate(parsed, context, self.report), self._reads.handlers())
        operation = with_outputs(operation, self.report)
        for resource in operated.resources:
            operation = with_applied(operation, resource.object)
        operation = with_status(operation, (SYNCED, SUCCEEDED), NOW)
        applied = tuple(resource.object for resource in operated.resources)
        return self._rendered(operation, tuple(self.report.events))._replace(
            applied=applied, context=operated.context
        )

    def after_failure(self, problem: ComposeError) -> RenderedOperation:
        """What is known of a run that failed."""
        operation = after_failure(with_outputs(self._operation, self.report), str(problem), NOW)
        event = Event(WARNING, reason_of(problem), str(problem))
        return self._rendered(operation, (*self.report.events, event))

    def _rendered(self, operation: Object, events: tuple[Event, ...]) -> RenderedOperation:
        return RenderedOperation(
            operation,
            events=events,
            required_resources=tuple(self._reads.required_resources),
            required_schemas=tuple(self._reads.required_schemas),
        )
