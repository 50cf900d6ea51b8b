"""What functions of a FunctionIO pipeline pass on to each other, and the later protocol has no fields for.

How the readiness of each desired resource is checked, which connection details it gives, and what earlier
functions told. It travels in the context of the pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from crossply.compose.messages import Request
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire, to_wire

KEY = "crossply.dev/function-io"
"""The key of the context."""
RULES = ("connectionDetails", "readinessChecks")
"""What a desired resource says about itself besides what it should be."""


class Carried(NamedTuple):
    """What earlier steps said."""

    rules: Mapping[str, Object]
    """Connection details and readiness checks, as they were written, by the name of the resource."""
    results: tuple[Object, ...] = ()

    def into(self, context: Object | None) -> Object:
        """The context with this in it."""
        told: Any = to_wire({"rules": dict(self.rules), "results": list(self.results)})
        return {**(context or {}), KEY: told}


def carried_by(request: Request, templates: Mapping[str, Object]) -> Carried:
    """What came with a request; for the first function that is what the templates of the Composition say."""
    told = (request.context or {}).get(KEY)
    if not isinstance(told, dict):
        return Carried(templates)
    found: Object = from_wire(told)
    return Carried(found.get("rules") or {}, tuple(found.get("results") or ()))
