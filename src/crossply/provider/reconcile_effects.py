"""Everything that a reconcile of a managed resource asks of the outside world.

`reconcile_managed` is a generator without I/O: it yields one of these and is sent the answer. A driver that
cannot answer throws a `CrossplyError` into it. What is not reported, such as a write conflict, ends
the reconcile instead.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, NamedTuple, TypeVar

from crossply.compose.events import Event, StatusCondition
from crossply.kube.kind import Kind
from crossply.provider.external_error import ExternalFailure
from crossply.values import Object


class Save(NamedTuple):
    """Write what differs in metadata and spec; the answer is what is live then.

    A conflict ends the reconcile: what comes next is decided by the version that was read.
    """

    live: Object
    desired: Object


class SaveAnnotations(NamedTuple):
    """Write annotations that must not be lost; the answer is what is live then.

    After a conflict, or where the server is not reached, it is tried again on what is live by then.
    """

    live: Object
    annotations: Mapping[str, str]


class WriteStatus(NamedTuple):
    """Replace the status; the answer is what is live then."""

    live: Object
    status: Object


class RecordEvent(NamedTuple):
    """Record an event about the resource."""

    live: Object
    event: Event
    is_repeatable: bool = False
    """Record it also if the last event of its reason had the same message."""


class ReadReferenced(NamedTuple):
    """Read a resource that a reference names; the answer is an object, or None where it does not exist."""

    kind: Kind
    namespace: str
    name: str


class ListReferenced(NamedTuple):
    """List the resources that have these labels, sorted by name; the answer is a list of objects."""

    kind: Kind
    namespace: str
    labels: Mapping[str, str]


class ApplyReferences(NamedTuple):
    """Apply resolved references to the resource's spec; the answer is what is live then."""

    live: Object
    spec: Object


class TrackUsage(NamedTuple):
    """Note that the resource uses the ProviderConfig that it names."""

    live: Object


class Connect(NamedTuple):
    """Read the ProviderConfig and the Secrets of parameters, and connect to the external system."""

    live: Object
    allow_missing: bool
    """Required parameters may be missing, as the resource is not created."""


class Observe(NamedTuple):
    """Observe the external resource; the answer is an `External`, or None where it does not exist."""

    live: Object


class External(NamedTuple):
    """An external resource that exists."""

    ready: StatusCondition
    is_up_to_date: bool = True
    differing: tuple[str, ...] = ()
    """Fields of `spec.forProvider` that are different outside, sorted."""
    late_initialized: Object = {}  # noqa: RUF012 - read only
    """Values for fields of `spec.forProvider` that are not set."""
    at_provider: Object | None = None
    details: Mapping[str, bytes] = {}
    external_name: str = ""


class Create(NamedTuple):
    """Create the external resource; the answer is a `Created`, also where that failed."""

    live: Object


class Created(NamedTuple):
    """How a creation ended."""

    external_name: str
    details: Mapping[str, bytes] = {}
    failure: ExternalFailure | None = None


class Update(NamedTuple):
    """Update the external resource; the answer is connection details."""

    live: Object


class Delete(NamedTuple):
    """Delete the external resource, or begin to."""

    live: Object


class Publish(NamedTuple):
    """Add connection details to the resource's Secret, if it names one."""

    live: Object
    details: Mapping[str, bytes]
    may_create: bool = True
    """Create the Secret if it does not exist."""


Effect = (
    Save
    | SaveAnnotations
    | WriteStatus
    | RecordEvent
    | ReadReferenced
    | ListReferenced
    | ApplyReferences
    | TrackUsage
    | Connect
    | Observe
    | Create
    | Update
    | Delete
    | Publish
)

Result = TypeVar("Result")
Effects = Generator[Effect, Any, Result]
"""A part of the reconcile: it yields effects, is sent their answers, and ends in a result."""


class Poll(NamedTuple):
    """Reconcile again after so many seconds, give or take a jitter."""

    seconds: float


class Retry(NamedTuple):
    """Reconcile again, at once or after a pause that grows."""

    at_once: bool = False


class Reconciled(NamedTuple):
    """How a reconcile ended."""

    requeue: Poll | Retry | None = None
    """None where only a change of the resource matters."""
    outcome: str = "failed"
    """failed, waiting, paused, created, unchanged, updated, deleting or deleted."""
    failure: str = ""
    """The message of the Synced condition."""
