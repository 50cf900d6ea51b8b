"""What functions of a FunctionIO pipeline pass on to each other, and the later protocol has no fields for.

Readiness checks and connection details of desired resources, and results of earlier functions. It is stored
in the context of the pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from crossply.compose.function_messages import Request
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire, to_wire

KEY = "crossply.dev/function-io"
"""The key of the context."""
RULES = ("connectionDetails", "readinessChecks")
"""The fields of a desired resource in addition to its object."""


class PipelineState(NamedTuple):
    """The state that earlier steps left."""

    rules: Mapping[str, Object]
    """Connection details and readiness checks, undecoded, by the name of the resource."""
    results: tuple[Object, ...] = ()

    def store_in(self, context: Object | None) -> Object:
        """The context with this state."""
        encoded: Any = to_wire({"rules": dict(self.rules), "results": list(self.results)})
        return {**(context or {}), KEY: encoded}


def read_pipeline_state(request: Request, templates: Mapping[str, Object]) -> PipelineState:
    """The state in a request; for the first function it comes from the templates of the Composition."""
    encoded = (request.context or {}).get(KEY)
    if not isinstance(encoded, dict):
        return PipelineState(templates)
    decoded: Object = from_wire(encoded)
    return PipelineState(decoded.get("rules") or {}, tuple(decoded.get("results") or ()))
