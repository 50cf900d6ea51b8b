"""Everything the engine asks of the outside world: what it reads, what it calls and what it writes.

The engine has no I/O. `reconcile`, `compose` and `operate` are generators: each yields one of these and is
sent the answer. A driver (see `in_memory_reconcile`) that cannot answer throws a `CrossplyError` into the
generator. The controller, `render`, `test` and `plan` are drivers.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.compose.composed_resources import Composed
    from crossply.compose.events import Event
    from crossply.compose.function_messages import Request, ResourceSelector, SchemaSelector
    from crossply.compose.garbage_collection import Deletion
    from crossply.compose.observed_resources import Observed
    from crossply.compose.prepared_composition import PreparedComposition
    from crossply.errors import CrossplyError
    from crossply.kinds.composition import ObjectRef, Step
    from crossply.values import Object


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
    """Read a Secret's data; the answer is a map of bytes."""

    namespace: str
    name: str


class FetchObject(NamedTuple):
    """Read one object that a step refers to for its input; the answer is an object."""

    ref: ObjectRef


class IsNamespaced(NamedTuple):
    """Look up whether a kind is namespaced; the answer is a bool."""

    api_version: str
    kind: str


class FindScope(NamedTuple):
    """Look up whether a kind is namespaced; the answer is a bool, or None where the kind is not served."""

    api_version: str
    kind: str


class AcceptRequest(NamedTuple):
    """Note a request to reconcile, made by annotation; the answer is whether it is a new one."""

    xr: Object
    token: str


class SelectComposition(NamedTuple):
    """Select a Composition; the answer is a `Selected`."""

    xr: Object


class SelectRevision(NamedTuple):
    """Select a revision of a Composition; the answer is a `Selected`."""

    xr: Object
    composition: str


class FetchComposition(NamedTuple):
    """Read what a revision composes by; the answer is a `PreparedComposition`."""

    revision: str


class CountOwners(NamedTuple):
    """Count the owners above an XR, each the controller of the one below; the answer is an int.

    `most` is enough to know: counting may stop there.
    """

    xr: Object
    most: int


class Observe(NamedTuple):
    """Read what exists of a composite resource; the answer is an `Observation`."""

    xr: Object
    prepared_composition: PreparedComposition


class Observation(NamedTuple):
    """What exists of a composite resource."""

    resources: Iterable[Observed]
    connection_details: Mapping[str, bytes] = {}
    """The data of the composite resource's own connection Secret."""


class ServesWatchedRefs(NamedTuple):
    """Look up whether the composite resource's schema has `status.watchedResourceRefs`; a bool."""


class RecordEvents(NamedTuple):
    """Record events about the composite resource and, where they are addressed to it, its claim."""

    xr: Object
    events: Iterable[Event] = ()
    progress: Iterable[tuple[Event, ...]] = ()
    """Groups of events that say the same of several resources: a driver may record a group as one event."""


class SaveComposite(NamedTuple):
    """Write what changed of a composite resource but for its status; the answer is what is live then."""

    live: Object
    desired: Object


class DeleteComposed(NamedTuple):
    """Delete composed resources that are no longer desired."""

    deletions: tuple[Deletion, ...]


class ApplyComposed(NamedTuple):
    """Apply composed resources; the answer is `Applied`."""

    xr: Object
    composed: tuple[Composed, ...]


class Applied(NamedTuple):
    """How composed resources were applied."""

    refused: Mapping[str, str] = {}
    """Why, by the name of each resource that the API server found invalid."""
    is_observable: bool = True
    """Whether another `Observe` within this reconcile returns what was applied."""
    written: Mapping[str, Object] = {}
    """What the API server has now, by the name of each resource that was not in place already."""


class PublishDetails(NamedTuple):
    """Write connection details to the XR's Secret; the answer is when, or None if nothing changed."""

    xr: Object
    details: Mapping[str, bytes]


class WatchDependencies(NamedTuple):
    """Have the composite resource reconciled again when anything changes that this reconcile read."""

    xr: Object


class WriteStatus(NamedTuple):
    """Make the status of the live composite resource this; the answer is what is live then."""

    live: Object
    status: Object


class RemoveFinalizer(NamedTuple):
    """Remove the engine's finalizer from a composite resource that is being deleted."""

    xr: Object


class Diagnose(NamedTuple):
    """Look into why a reconcile failed; the answer is a `Diagnosis`."""

    xr: Object
    problem: CrossplyError
    composition: str
    composed: Iterable[Object]
    """What was to be composed, or references to it."""


class Diagnosis(NamedTuple):
    """What there is to know about a reconcile that failed."""

    problem: CrossplyError
    """The same problem, where possible with what to do about it."""
    live: Object
    """The composite resource as it was last written."""
    is_invalid: bool = False
    """Whether the API server found something invalid, which it may say in other words each time."""


Effect = (
    Call
    | FetchResources
    | FetchSchema
    | FetchSecret
    | FetchObject
    | IsNamespaced
    | FindScope
    | AcceptRequest
    | SelectComposition
    | SelectRevision
    | FetchComposition
    | CountOwners
    | Observe
    | ServesWatchedRefs
    | RecordEvents
    | SaveComposite
    | DeleteComposed
    | ApplyComposed
    | PublishDetails
    | WatchDependencies
    | WriteStatus
    | RemoveFinalizer
    | Diagnose
)

Result = TypeVar("Result")
Effects = Generator[Effect, Any, Result]
"""A piece of the engine: it yields effects, is sent their answers, and ends in a result."""
