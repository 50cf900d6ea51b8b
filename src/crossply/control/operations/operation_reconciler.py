"""Running an Operation to its end: its pipeline, then what that wants, then never again.

What fails is tried again, after a second and then ever later, until the Operation has failed as often as it
may. Its status is written before anything is called: who reads an old version of it cannot run it twice.
"""

from __future__ import annotations

import asyncio
import time

import orjson

from crossply.compose.conditions import SYNCED
from crossply.compose.effect_driver import drive_async
from crossply.compose.engine_field_paths import MODERN
from crossply.compose.errors import ComposeError, OperationResourceError, StepNotRun
from crossply.compose.events import WARNING, Event, StatusCondition
from crossply.compose.object_metadata import metadata_of, name_of, uid_of
from crossply.compose.operation_run import (
    RUNNING,
    SUCCEEDED,
    VALID_PIPELINE,
    OperationResource,
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
from crossply.compose.reconcile import Settings
from crossply.control.composites.cluster_reads import ClusterReads
from crossply.control.controller_context import Plane
from crossply.control.kinds import OPERATION
from crossply.errors import CrossplyError
from crossply.kinds.operation import Operation, parse_operation
from crossply.kube.controller import Requeue
from crossply.kube.failures import Conflict
from crossply.runs.capture import Capture
from crossply.values import Object
from crossply.values.backoff import pause_after

CAPABILITY = "operation"
MANAGER = "ops.crossplane.io/operation/"
"""And the UID of the Operation: who owns the fields that it applies."""
INVALID_PIPELINE = "InvalidPipeline"
_SECONDS = 120.0
_LONGEST_PAUSE = 60.0


class OperationReconciler:
    """Runs Operations."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.operations = plane.informers.acquire(OPERATION)
        self._not_before: dict[str, tuple[str, float]] = {}
        """The UID of what failed and when it may be tried again, by name."""

    async def reconcile(self, name: str) -> Requeue | None:
        """Run one Operation, unless it is over, or has to wait."""
        data = self.operations.get("", name)
        operation: Object = orjson.loads(data) if data is not None else {}
        if not operation or metadata_of(operation).get("deletionTimestamp") or is_complete(operation):
            self._not_before.pop(name, None)
            return None
        uid, not_before = self._not_before.get(name, ("", 0.0))
        pause = not_before - time.monotonic() if uid == uid_of(operation) else 0.0
        return Requeue(pause) if pause > 0 else await self._attempt(operation)

    async def _attempt(self, operation: Object) -> Requeue | None:
        parsed = parse_operation(operation)
        now = self._plane.now
        if failures_of(operation) >= parsed.retry_limit:
            await self._write(at_the_limit(operation, parsed.retry_limit, now()))
            return None
        operation = await self._write(with_status(operation, (RUNNING,), now()))
        missing = self._plane.functions.missing_capabilities(parsed.steps, CAPABILITY)
        if missing:
            problem = f"function capability check failed: {missing}"
            invalid = StatusCondition(VALID_PIPELINE.type, "False", "MissingCapabilities", problem)
            return await self._fail(operation, Event(WARNING, INVALID_PIPELINE, problem), invalid)
        operation = with_status(operation, (VALID_PIPELINE,), now())
        return await self._run(operation, parsed)

    async def _run(self, operation: Object, parsed: Operation) -> Requeue | None:
        report = PipelineReport()
        capture = self._capture(operation, parsed)
        try:
            resources = await self._operate(parsed, report, capture)
        except ComposeError as problem:
            capture.end(problem)
            self._finish(capture)
            self._record_events(operation, report)
            return await self._fail(with_outputs(operation, report), _event(problem))
        self._record_events(operation, report)
        operation = with_outputs(operation, report)
        for resource in resources:
            try:
                applied = await self._apply(resource, uid_of(operation))
                capture.writes.append((None, applied))
                operation = with_applied(operation, applied)
            except ComposeError as problem:
                capture.end(problem)
                self._finish(capture)
                return await self._fail(operation, _event(problem))
        capture.end()
        self._finish(capture)
        await self._write(with_status(operation, (SYNCED, SUCCEEDED), self._plane.now()))
        return None

    def _capture(self, operation: Object, parsed: Operation) -> Capture:
        failures = failures_of(operation)
        trigger = f"retry after {failures} failures" if failures else "created"
        settings = Settings(MODERN, self._plane.now, capabilities=self._plane.capabilities)
        return Capture(operation, settings, triggers=(trigger,), operation=parsed)

    def _finish(self, capture: Capture) -> None:
        if self._plane.runs is not None:
            self._plane.runs.finish(capture, always=True)

    async def _operate(
        self, parsed: Operation, report: PipelineReport, capture: Capture
    ) -> tuple[OperationResource, ...]:
        # Every Operation calls its functions: responses are not cached.
        reads = ClusterReads(self._plane, set(), uses_cache=False)
        capture.calls = reads.calls
        if self._plane.inspector is not None:
            name, uid = name_of(capture.xr), uid_of(capture.xr)
            reads.inspection = self._plane.inspector.begin_operation(name, uid, parsed.steps)
        try:
            async with asyncio.timeout(_SECONDS):
                work = operate(parsed, {}, report, self._plane.capabilities)
                return (await drive_async(work, reads.handlers(), answered=capture.answered)).resources
        except TimeoutError:
            raise StepNotRun(f"the pipeline did not end within {_SECONDS:.0f} s") from None

    async def _apply(self, resource: OperationResource, uid: str) -> Object:
        plane, obj = self._plane, resource.object
        try:
            kind = await plane.discovery.kind_for(obj["apiVersion"], obj["kind"])
            return await plane.as_controller.apply(kind, obj, MANAGER + uid)
        except CrossplyError as problem:
            raise OperationResourceError(
                f"cannot apply desired resource: {problem}", hint=problem.hint
            ) from problem
        except Conflict as problem:
            # The function named a version that is not the latest: that counts as a failure of the Operation.
            raise OperationResourceError(f"cannot apply desired resource: {problem}") from problem

    def _record_events(self, operation: Object, report: PipelineReport) -> None:
        for event in report.events:
            self._plane.recorder.record(operation, event)

    async def _fail(self, operation: Object, event: Event, *others: StatusCondition) -> Requeue:
        """Write a failure to the status, and requeue the Operation."""
        self._plane.recorder.record(operation, event)
        failed = after_failure(operation, event.message, self._plane.now(), *others)
        pause = pause_after(failures_of(failed), 1.0, _LONGEST_PAUSE)
        self._not_before[name_of(operation)] = (uid_of(operation), time.monotonic() + pause)
        await self._write(failed)
        return Requeue(pause)

    async def _write(self, operation: Object) -> Object:
        written = await self._plane.as_installer.update_status(OPERATION, operation)
        self.operations.record_write(written)
        return written


def _event(problem: ComposeError) -> Event:
    return Event(WARNING, reason_of(problem), str(problem))
