"""What the engine and a function say to each other, as plain data.

These are the messages of `apiextensions.fn.proto.v1` in Python form. Objects inside them hold only what a
protobuf Struct can hold (see `values.protobuf_struct`), so every number is a float: a function that runs
in-process sees exactly what one behind gRPC would see. `compose.wire_codec` turns a message into bytes and
back.

A `Snapshot` is an object that is sent again and again. It keeps its wire view and its encoded bytes, so that
a request for a hundred observed resources is a join of bytes made long before.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from crossply.values import Object
from crossply.values.protobuf_struct import encode_struct, to_wire

READY_UNSPECIFIED, READY_TRUE, READY_FALSE = 0, 1, 2
SEVERITY_UNSPECIFIED, SEVERITY_FATAL, SEVERITY_WARNING, SEVERITY_NORMAL = 0, 1, 2, 3
TARGET_UNSPECIFIED, TARGET_COMPOSITE, TARGET_COMPOSITE_AND_CLAIM = 0, 1, 2
STATUS_UNSPECIFIED, STATUS_UNKNOWN, STATUS_TRUE, STATUS_FALSE = 0, 1, 2, 3

REQUIRED_RESOURCES = 2
"""The capability to give functions the resources that they ask for."""

CAPABILITIES = (1, REQUIRED_RESOURCES, 3, 4, 5)
"""Capabilities, required resources, credentials, conditions, required schemas: all that the engine offers."""

SECOND = 1_000_000_000
"""A second in nanoseconds, the unit of a response's TTL."""


class Snapshot:
    """One Kubernetes object, with its wire view and its encoded Struct made at most once."""

    __slots__ = ("_encoded", "_view", "object")

    def __init__(self, obj: Object) -> None:
        self.object = obj
        self._view: Object | None = None
        self._encoded: bytes | None = None

    @property
    def view(self) -> Object:
        """The object as a function sees it: every number a double."""
        if self._view is None:
            self._view = to_wire(self.object)
        return self._view

    @property
    def encoded(self) -> bytes:
        """The object as an encoded Struct."""
        if self._encoded is None:
            self._encoded = encode_struct(self.object)
        return self._encoded


class Resource(NamedTuple):
    """One resource in a state: the object, its connection details, and whether a function calls it ready."""

    object: Object
    connection_details: Mapping[str, bytes] = {}
    ready: int = READY_UNSPECIFIED
    snapshot: Snapshot | None = None

    @classmethod
    def of(cls, snapshot: Snapshot, connection_details: Mapping[str, bytes] | None = None) -> "Resource":
        """An observed resource, backed by a snapshot that may already be encoded."""
        return cls(snapshot.view, connection_details or {}, READY_UNSPECIFIED, snapshot)


class State(NamedTuple):
    """A composite resource and its composed resources, as they are or as they should be."""

    composite: Resource | None = None
    resources: dict[str, Resource] = {}  # noqa: RUF012 - never written to; a new state is a new dict


NO_STATE = State()
"""The state of a message that has none; compare by identity. An empty state is another message on the wire,
and functions that show their request as JSON show the difference."""


class ResourceSelector(NamedTuple):
    """Which resources a function wants to see: by name, by labels, or all of a kind."""

    api_version: str
    kind: str
    match_name: str | None = None
    match_labels: dict[str, str] | None = None
    namespace: str | None = None


class SchemaSelector(NamedTuple):
    """Which kind's OpenAPI schema a function wants to see."""

    api_version: str
    kind: str


class ResourceRef(NamedTuple):
    """One resource by name."""

    api_version: str
    kind: str
    name: str
    namespace: str | None = None
    """None for a cluster scoped resource, or for a resource of the name in any namespace."""


class Requirements(NamedTuple):
    """What a function asks for before it can give its final answer."""

    resources: dict[str, ResourceSelector] = {}  # noqa: RUF012
    extra_resources: dict[str, ResourceSelector] = {}  # noqa: RUF012
    schemas: dict[str, SchemaSelector] = {}  # noqa: RUF012
    watch_resources: tuple[ResourceRef, ...] = ()
    """Resources whose changes have the pipeline run again; the function is not sent them."""


class Result(NamedTuple):
    """A result that a function reports to the users of the composite resource."""

    severity: int
    message: str
    reason: str | None = None
    target: int | None = None


class Condition(NamedTuple):
    """A status condition that a function wants on the composite resource."""

    type: str
    status: int
    reason: str
    message: str | None = None
    target: int | None = None


class Request:
    """The request of a function. Its tag identifies the content, and is computed at first use."""

    __slots__ = (
        "_first",
        "_tag",
        "capabilities",
        "context",
        "credentials",
        "desired",
        "extra_resources",
        "input",
        "observed",
        "required_resources",
        "required_schemas",
    )

    def __init__(
        self,
        observed: State,
        desired: State | None = None,
        *,
        input: Object | None = None,  # noqa: A002 - the protocol's own word
        context: Object | None = None,
        extra_resources: Mapping[str, tuple[Resource, ...]] | None = None,
        credentials: Mapping[str, Mapping[str, bytes]] | None = None,
        required_resources: Mapping[str, tuple[Resource, ...]] | None = None,
        required_schemas: Mapping[str, Object | None] | None = None,
        capabilities: tuple[int, ...] = CAPABILITIES,
        tag: str | None = None,
    ) -> None:
        self.observed = observed
        self.desired = desired if desired is not None else NO_STATE
        self.input = input
        self.context = context
        self.extra_resources = extra_resources or {}
        self.credentials = credentials or {}
        self.required_resources = required_resources or {}
        self.required_schemas = required_schemas or {}
        self.capabilities = capabilities
        self._tag = tag
        self._first: Request | None = None

    @property
    def tag(self) -> str:
        """The hex SHA-256 of the encoded request without its meta, or the tag the caller sent."""
        if self._first is not None:
            return self._first.tag
        if self._tag is None:
            from crossply.compose.wire_codec import request_tag

            self._tag = request_tag(self)
        return self._tag

    def with_requirements(
        self,
        context: Object | None,
        required_resources: Mapping[str, tuple[Resource, ...]],
        extra_resources: Mapping[str, tuple[Resource, ...]],
        required_schemas: Mapping[str, Object | None],
    ) -> "Request":
        """The request of the next iteration, with the required resources; the tag stays that of the first."""
        return self._changed(
            context=context,
            required_resources=required_resources,
            extra_resources=extra_resources,
            required_schemas=required_schemas,
        )

    def with_input(self, input_: Object) -> "Request":
        """The same request with an input, as functions see it; the tag stays."""
        return self._changed(input=input_)

    def with_observed(self, observed: State) -> "Request":
        """The same request with another observed state; the tag stays."""
        return self._changed(observed=observed)

    def _changed(self, **changes: Any) -> "Request":
        """The same request but for some fields, with the tag of the first of them."""
        request = Request(**{**{name: getattr(self, name) for name in _FIELDS}, **changes})
        request._first = self._first or self
        return request


_FIELDS = (
    "observed",
    "desired",
    "input",
    "context",
    "extra_resources",
    "credentials",
    "required_resources",
    "required_schemas",
    "capabilities",
)


class Response(NamedTuple):
    """A function's answer. `tag` is a string, or the request whose tag is to be copied when it is needed."""

    desired: State | None = None
    results: tuple[Result, ...] = ()
    context: Object | None = None
    requirements: Requirements | None = None
    conditions: tuple[Condition, ...] = ()
    ttl: int | None = None
    tag: str | Request = ""
    output: Object | None = None


Function = Callable[[Request], Response]
"""A function that runs in-process: pure, and it never changes what it is given."""


def respond(request: Request, *, ttl: int = 60 * SECOND, **changes: Any) -> Response:
    """An answer that passes on the desired state and the context, unless `changes` says otherwise."""
    fields: dict[str, Any] = {"desired": request.desired, "context": request.context, **changes}
    return Response(ttl=ttl, tag=request, **fields)


def fatal(request: Request, message: str, *, ttl: int = 60 * SECOND) -> Response:
    """An answer that stops the pipeline."""
    return respond(request, ttl=ttl, results=(Result(SEVERITY_FATAL, message, None, TARGET_COMPOSITE),))
