"""`crossply internal render`: render a request in the wire format of the Crossplane CLI.

A RenderRequest on stdin, a RenderResponse on stdout. When a step gives up, what is known is written all the
same and the exit code is 3, so that a caller can provide what is missing and retry.
"""

from __future__ import annotations

import sys

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.internal.function_addresses import PIPELINE_FATAL, Addresses
from crossply.cli.internal.render_wire import (
    CompositeInput,
    read_request,
    response_bytes,
)
from crossply.compose.errors import ComposeError, RenderInputError, StepFailed
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.compose.in_memory_reconcile import Rendered, Rendering
from crossply.compose.prepared_composition import prepare
from crossply.kinds.composition import parse_composition
from crossply.kinds.fields import KindError
from crossply.rendering.inputs import machinery_for


def run(invocation: Invocation) -> int:
    """Read the request, render, write the response."""
    request = read_request(sys.stdin.buffer.read())
    if not isinstance(request, CompositeInput):
        from crossply.cli.internal.render_operations import answer

        return answer(request, invocation["timeout"])
    world = InMemoryCluster(
        [*request.observed, *request.required_resources],
        request.credentials,
        request.required_schemas,
        lambda: [] if request.definition is None else [request.definition],
    )
    with Addresses(request.functions, invocation["timeout"]) as addresses:
        rendering = Rendering(machinery_for(request.composite, request.definition), world, addresses.call)
        try:
            rendered = _render(rendering, request)
        except StepFailed as problem:
            _write(rendering.after_failure())
            from crossply.cli.framework.failure_reports import report

            report(problem.within("cannot render composite resource"), sys.stderr)
            return PIPELINE_FATAL
    _write(rendered)
    return 0


def _render(rendering: Rendering, composite_input: CompositeInput) -> Rendered:
    try:
        prepared_composition = prepare(parse_composition(composite_input.composition))
        return rendering.run(composite_input.composite, prepared_composition, composite_input.observed, {})
    except StepFailed:
        raise
    except KindError as problem:
        prefix = "cannot render composite resource: cannot convert composition from protobuf"
        raise problem.within(prefix) from None
    except RenderInputError as problem:
        raise problem.within("cannot render composite resource") from None
    except ComposeError as problem:
        raise problem.within("cannot render composite resource: reconcile failed") from None


def _write(rendered: Rendered) -> None:
    sys.stdout.buffer.write(response_bytes(rendered))


COMMAND = Command(
    name="internal render",
    summary="Render a protobuf RenderRequest from standard input.",
    description="Reads a protobuf RenderRequest from stdin and writes a RenderResponse to stdout, so that "
    "the Crossplane CLI can use Crossply as its engine: crossplane render … --crossplane-binary crossply",
    examples=("crossply internal render < request.pb > response.pb",),
    run=run,
    flags=(
        Flag(
            "timeout", "How long to run before timing out.", kind="duration", default="2m", placeholder="2m"
        ),
    ),
)
