"""The sources of the fields that built-in functions set, recorded when they trace a request.

Tracing runs a function a second time, on a recorded request: an ordinary run has no hooks and pays nothing,
and it does not matter in which thread, process or container the first run was.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.values.field_path import Segment

Path = tuple[Segment, ...]

VALUE, CONDITION, KEYS = "value", "condition", "keys"
"""How a source is used: its value is copied or computed with, it decides whether or which, or only the
existence of the fields right below it matters (`range`, `len`, `hasKey`)."""

COMPOSITE, CONTEXT, ENVIRONMENT, DESIRED_COMPOSITE = "composite", "context", "environment", "desired"
ENVIRONMENT_KEY = "apiextensions.crossplane.io/environment"
"""The key of the environment in the context."""

REQUEST = "request"
"""Everything that a function was given: the source of a field whose function cannot be traced."""


PASSED_ON = "passed on"
"""How a function treats a field that an earlier step set, in a resource that it changes."""

ENVIRONMENT_DATA, EXTRA_RESOURCE = "environment", "extra resource"
"""How a function copies fields of an EnvironmentConfig or of a resource, as they are, into the context."""


class SourceField(NamedTuple):
    """A field that another one depends on, with everything below it.

    `object` is "composite", "observed/NAME", "desired" (the XR that earlier steps desire), "desired/NAME",
    "context", "environment", "EnvironmentConfig/NAME", "extra/NAME" (what the function required by a name),
    "KIND/NAME" or "KIND/NAMESPACE/NAME" (a resource that an earlier step put into the context), or "request".
    """

    object: str
    path: str
    use: str = VALUE

    def __str__(self) -> str:
        return f"{self.object}: {self.path}" if self.path else self.object


class FieldTrace(NamedTuple):
    """How a function set one field."""

    how: str
    where: str
    sources: tuple[SourceField, ...] = ()


FieldTraces = dict[Path, FieldTrace]


class StepTrace(NamedTuple):
    """How a function set the fields of its response.

    A resource that is listed was created by the function; others were passed on. The fields of the desired
    composite resource and of the context are only those that the function set.
    """

    resources: dict[str, FieldTraces]
    composite: FieldTraces
    context: FieldTraces
