"""Renders the Operations of `internal render`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from crossply.cli.internal.function_addresses import PIPELINE_FATAL, Addresses
from crossply.cli.internal.render_wire import (
    CronInput,
    OperationInput,
    WatchInput,
    created_operation_bytes,
    operation_bytes,
)
from crossply.compose.errors import ComposeError, StepFailed
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.operation_rendering import OperationRendering, RenderedOperation
from crossply.kinds.cron_operation import parse_cron_operation
from crossply.kinds.cron_operation_schedule import new_operation
from crossply.kinds.fields import KindError
from crossply.kinds.watch_operation import operation_for, parse_watch_operation


def answer(request: OperationInput | CronInput | WatchInput, timeout: float) -> int:
    """Write the response and return the exit code."""
    if isinstance(request, OperationInput):
        return _render(request, timeout)
    if isinstance(request, CronInput):
        time = datetime.now(UTC) if request.seconds is None else datetime.fromtimestamp(request.seconds, UTC)
        operation = new_operation(parse_cron_operation(request.cron_operation), time)
    else:
        operation = operation_for(parse_watch_operation(request.watch_operation), request.watched)
    sys.stdout.buffer.write(created_operation_bytes(operation, by_watch=isinstance(request, WatchInput)))
    return 0


def _render(request: OperationInput, timeout: float) -> int:
    world = InMemoryCluster(request.required_resources, request.credentials, request.required_schemas)
    with Addresses(request.functions, timeout) as addresses:
        rendering = OperationRendering(world, addresses.call)
        try:
            rendered = _run(rendering, request)
        except StepFailed as problem:
            sys.stdout.buffer.write(operation_bytes(rendering.after_failure(problem)))
            from crossply.cli.framework.failure_reports import report

            report(problem.within("cannot render operation"), sys.stderr)
            return PIPELINE_FATAL
    sys.stdout.buffer.write(operation_bytes(rendered))
    return 0


def _run(rendering: OperationRendering, request: OperationInput) -> RenderedOperation:
    try:
        return rendering.run(request.operation, {})
    except StepFailed:
        raise
    except (ComposeError, KindError) as problem:
        raise problem.within("cannot render operation: reconcile failed") from None
