"""What the engine asks of the outside world.

`compose` is a generator without I/O: it yields one of these and is sent the answer. A driver that cannot
answer throws a `CrossplyError` into it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

from crossply.compose.messages import Request, ResourceSelector, SchemaSelector
from crossply.kinds.composition import ObjectRef, Step


class Call(NamedTuple):
    """Call the step's function; the answer is a `Response`."""

    step: Step
    request: Request


class FetchResources(NamedTuple):
    """Read the selected resources; the answer is a list of `Snapshot`, sorted by namespace and name."""

    selector: ResourceSelector


class FetchSchema(NamedTuple):
    """Read a kind's OpenAPI schema; the answer is an object, or None where there is no such kind."""

    selector: SchemaSelector


class FetchSecret(NamedTuple):
    """Read a Secret's data; the answer is a map of bytes, or None where there is no such Secret."""

    namespace: str
    name: str


class FetchObject(NamedTuple):
    """Read one object that a step refers to for its input; the answer is an object or None."""

    ref: ObjectRef


class IsNamespaced(NamedTuple):
    """Tell whether a kind lives in namespaces; the answer is a bool."""

    api_version: str
    kind: str


Ask = Call | FetchResources | FetchSchema | FetchSecret | FetchObject | IsNamespaced

Result = TypeVar("Result")
Work = Generator[Ask, Any, Result]
"""A piece of the engine: it asks, is answered, and ends in a result."""
