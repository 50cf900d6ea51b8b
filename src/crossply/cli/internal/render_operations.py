"""Operations behind the wire format of `internal render`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from crossply.cli.internal.render import PIPELINE_FATAL, Addresses
from crossply.cli.internal.render_wire import (
    CronInput,
    OperationInput,
    WatchInput,
    made_bytes,
    operation_bytes,
)
from crossply.compose.errors import ComposeError, StepFailed
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.operation_rendering import OperationRendering, RenderedOperation
from crossply.kinds.cron_operation import new_operation, parse_cron_operation
from crossply.kinds.fields import KindError
from crossply.kinds.watch_operation import operation_for, parse_watch_operation


def answer(given: OperationInput | CronInput | WatchInput, timeout: float) -> int:
    """Write what is asked for; gives the exit code."""
    if isinstance(given, OperationInput):
        return _render(given, timeout)
    if isinstance(given, CronInput):
        time = datetime.now(UTC) if given.seconds is None else datetime.fromtimestamp(given.seconds, UTC)
        made = new_operation(parse_cron_operation(given.cron_operation), time)
    else:
        made = operation_for(parse_watch_operation(given.watch_operation), given.watched)
    sys.stdout.buffer.write(made_bytes(made, by_watch=isinstance(given, WatchInput)))
    return 0


def _render(given: OperationInput, timeout: float) -> int:
    world = InMemoryCluster(given.required_resources, given.credentials, given.required_schemas)
    with Addresses(given.functions, timeout) as addresses:
        rendering = OperationRendering(world, addresses.call)
        try:
            rendered = _run(rendering, given)
        except StepFailed as problem:
            sys.stdout.buffer.write(operation_bytes(rendering.given_up(problem)))
            from crossply.cli.framework.printing import report

            report(problem.within("cannot render operation"), sys.stderr)
            return PIPELINE_FATAL
    sys.stdout.buffer.write(operation_bytes(rendered))
    return 0


def _run(rendering: OperationRendering, given: OperationInput) -> RenderedOperation:
    try:
        return rendering.run(given.operation, {})
    except StepFailed:
        raise
    except (ComposeError, KindError) as problem:
        raise problem.within("cannot render operation: reconcile failed") from None
