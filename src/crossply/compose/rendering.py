"""One reconcile of a composite resource in memory: what `render`, `test` and `plan` show.

The steps are the reconciler's own: select, configure, compose, conclude. The world is a set of objects, time
stands still, and a composite resource without a UID gets one that is always the same, so that names are too.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from typing import Any, NamedTuple

from crossply.compose.conditions import put_conditions, read_conditions, set_conditions
from crossply.compose.configuration import check_compatible, configure
from crossply.compose.engine import Job, Outcome, compose
from crossply.compose.errors import ComposeError, ObservedError, RenderInputError, StepFailed
from crossply.compose.events import NORMAL, PAUSED, REQUEST_HANDLED, SELECT, Event
from crossply.compose.machinery import Machinery, secret_place
from crossply.compose.messages import ResourceSelector, SchemaSelector, Snapshot
from crossply.compose.metadata import (
    annotations_of,
    controller_of,
    metadata_of,
    name_of,
    namespace_of,
    text_in,
    uid_of,
)
from crossply.compose.observed import Observed, observe
from crossply.compose.offline import CallFunction, Offline, drive
from crossply.compose.pipeline import Told
from crossply.compose.recipe import Recipe
from crossply.compose.verdict import DELETING, RESPONSIVE, SYNCED, conclude, conclude_failure
from crossply.compose.verdict import PAUSED as PAUSED_CONDITION
from crossply.compose.watched_resources import watched_status
from crossply.compose.world import World, decode_data
from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.api_version import format_kind

NOW = "2024-01-01T00:00:00Z"
"""The time at which everything rendered happens."""

RESOURCE_VERSION = "999"
"""What everything rendered has."""


class Rendered(NamedTuple):
    """Everything a reconcile would have written and told."""

    composite: Object
    composed: tuple[Object, ...]
    deleted: tuple[Object, ...]
    events: tuple[Event, ...]
    context: Object | None
    required_resources: tuple[ResourceSelector, ...]
    required_schemas: tuple[SchemaSelector, ...]
    unready: tuple[str, ...] = ()
    """The names of the composed resources that no function calls ready."""


class Rendering:
    """One rendering under way. What was told and asked for stays readable when `run` fails."""

    __slots__ = ("_composing", "_machinery", "_offline", "events", "told")

    def __init__(self, machinery: Machinery, world: World, call: CallFunction) -> None:
        self._machinery = machinery
        self._offline = Offline(world, call)
        self._composing: Object = {}
        """The composite resource as it was when its pipeline started."""
        self.told = Told()
        self.events: list[Event] = []

    def run(self, xr: Object, recipe: Recipe, observed: Sequence[Object], context: Object) -> Rendered:
        """Reconcile the composite resource once."""
        xr = identify(xr)
        check_observed(xr, observed)
        xr = self._with_references(xr, observed)
        xr = _with_status(xr, set_conditions(_conditions(xr), (RESPONSIVE,), NOW, _generation(xr)))
        if annotations_of(xr).get("crossplane.io/paused") == "true":
            return self._stopped(xr, PAUSED_CONDITION, _paused_event())
        self._note_request(xr)
        if metadata_of(xr).get("deletionTimestamp"):
            return self._stopped(xr, DELETING, None)
        xr = self._select(xr, recipe)
        check_compatible(xr, recipe.composition)
        xr = configure(xr, self._machinery, recipe.composition)
        return self._compose(xr, recipe, observed, context)

    def given_up(self, problem: str) -> Rendered:
        """What is known of a run whose pipeline failed: the status says so, and nothing is composed."""
        before = _conditions(self._composing)
        verdict = conclude_failure(problem, self.told.conditions, before)
        conditions = set_conditions(before, verdict.conditions, NOW, _generation(self._composing))
        return Rendered(
            composite=_with_status(self._composing, conditions),
            composed=(),
            deleted=(),
            events=(*self.events, *verdict.events, *self.told.events),
            context=None,
            required_resources=tuple(self._offline.required_resources),
            required_schemas=tuple(self._offline.required_schemas),
        )

    def _compose(self, xr: Object, recipe: Recipe, observed: Sequence[Object], context: Object) -> Rendered:
        self._composing = xr
        try:
            job = self._job(xr, recipe, observed, context)
            outcome = drive(compose(job, self.told), self._offline.answer)
        except ComposeError as problem:
            if isinstance(problem, StepFailed):
                problem = problem.replace(hint=self._offline.version_hint() or problem.hint)
            raise problem.within("cannot compose resources") from None
        verdict = conclude(outcome.composed, (), outcome.composite_ready)
        self.events += (*outcome.events, *verdict.events)
        return Rendered(
            composite=self._composite(xr, outcome, verdict.conditions),
            composed=tuple(resource.object for resource in outcome.composed),
            deleted=tuple(deletion.snapshot.object for deletion in outcome.deletions),
            events=tuple(self.events),
            context=outcome.context,
            required_resources=tuple(self._offline.required_resources),
            required_schemas=tuple(self._offline.required_schemas),
            unready=tuple(resource.name for resource in outcome.composed if not resource.ready),
        )

    def _job(self, xr: Object, recipe: Recipe, observed: Sequence[Object], context: Object) -> Job:
        found = [Observed(Snapshot(obj), self._connection_details(obj)) for obj in observed]
        try:
            known = observe(found, uid_of(xr))
        except ComposeError as problem:
            raise problem.within("cannot get existing composed resources") from None
        details = self._connection_details(xr) if self._machinery.publishes else {}
        return Job(Snapshot(xr), recipe, known, details, context)

    def _composite(self, xr: Object, outcome: Outcome, conditions: Any) -> Object:
        """The composite resource as the engine writes it: identity, references, status."""
        status = outcome.composite.get("status")
        status = status if isinstance(status, dict) else {}
        kept = put_conditions(read_conditions(status), _conditions(xr))
        kept = set_conditions(kept, (*outcome.conditions, *conditions), NOW, _generation(xr))
        metadata = {key: metadata_of(xr)[key] for key in ("name", "namespace") if metadata_of(xr).get(key)}
        return {
            "apiVersion": text_in(xr, "apiVersion"),
            "kind": text_in(xr, "kind"),
            "metadata": metadata,
            "spec": self._machinery.holding(self._machinery.references, outcome.references),
            "status": {**status, **watched_status(outcome.watched), "conditions": kept},
        }

    def _with_references(self, xr: Object, observed: Sequence[Object]) -> Object:
        """The composite resource refers to what was observed, so that the pipeline sees it."""
        if not observed:
            return xr
        references = []
        for obj in observed:
            reference = {key: text_in(obj, key) for key in ("apiVersion", "kind")}
            reference["name"] = name_of(obj)
            if not namespace_of(xr):
                reference["namespace"] = namespace_of(obj)
            references.append({key: value for key, value in reference.items() if value})
        return self._machinery.with_field(xr, self._machinery.references, references)

    def _select(self, xr: Object, recipe: Recipe) -> Object:
        name = recipe.composition.name
        if self._machinery.read(xr, "compositionRef") == {"name": name}:
            return xr
        self.events.append(Event(NORMAL, SELECT, f"Successfully selected composition: {name}"))
        return self._machinery.with_field(xr, "compositionRef", {"name": name})

    def _note_request(self, xr: Object) -> None:
        token = annotations_of(xr).get("crossplane.io/reconcile-requested-at")
        status = xr.get("status")
        handled = status.get("lastHandledReconcileAt") if isinstance(status, dict) else None
        if token and token != handled:
            self.events.append(Event(NORMAL, REQUEST_HANDLED, "Handling reconcile request"))

    def _connection_details(self, obj: Object) -> dict[str, bytes]:
        namespace, name = secret_place(obj)
        if not name:
            return {}
        selector = ResourceSelector("v1", "Secret", name, None, namespace)
        found = self._offline.world.select(selector)
        try:
            return decode_data(found[0].object) if found else {}
        except CrossplyError as problem:
            raise ObservedError(
                f'cannot get connection details from Secret "{selector.match_name}": {problem}',
                hint=problem.hint,
            ) from None

    def _stopped(self, xr: Object, condition: Any, event: Event | None) -> Rendered:
        """A composite resource that is not composed: paused, or on its way out."""
        changes = (condition,) if condition is PAUSED_CONDITION else (condition, SYNCED)
        xr = _with_status(xr, set_conditions(_conditions(xr), changes, NOW, _generation(xr)))
        if event is not None:
            self.events.append(event)
        return Rendered(xr, (), (), tuple(self.events), None, (), ())


def identify(xr: Object) -> Object:
    """Give the composite resource a UID that depends on its identity only, unless it has one."""
    metadata = {**metadata_of(xr), "resourceVersion": RESOURCE_VERSION}
    if not uid_of(xr):
        kind = format_kind(text_in(xr, "apiVersion"), text_in(xr, "kind"))
        metadata["uid"] = _uuid5(f"{kind}\0{namespace_of(xr)}\0{name_of(xr)}")
    return {**xr, "metadata": metadata}


def _uuid5(text: str) -> str:
    """A name-based UUID in the nil namespace (the `uuid` module would cost milliseconds to import)."""
    digest = bytearray(sha1(bytes(16) + text.encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    h = digest.hex()
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def check_observed(xr: Object, observed: Sequence[Object]) -> None:
    """Refuse observed resources that a reconciler would never see."""
    problems = []
    owners = set()
    for obj in observed:
        controller = controller_of(obj)
        if controller is not None and controller.get("uid") != uid_of(xr):
            owners.add(str(controller.get("uid")))
            problems.append(
                f"observed resource {name_of(obj)} has a controller ref but is not controlled by the XR"
            )
        if namespace_of(xr) and namespace_of(obj) != namespace_of(xr):
            problems.append(f"observed resource {name_of(obj)} is not in the same namespace as the XR")
    if problems:
        told = ", ".join(dict.fromkeys(problems))
        raise RenderInputError(
            "invalid observed resources: " + (f"[{told}]" if ", " in told else told),
            hint=_ownership_hint(owners) if owners else _OBSERVED,
        )


_OBSERVED = "observed resources are what the composite resource owns, in its own namespace"


def _ownership_hint(owners: set[str]) -> str:
    uid = f" ({owners.pop()})" if len(owners) == 1 else ""
    return (
        f"{_OBSERVED}: set metadata.uid of the composite resource to the uid in their ownerReferences{uid}, "
        "or remove ownerReferences from the observed resources"
    )


def _generation(xr: Object) -> int:
    generation = metadata_of(xr).get("generation")
    return generation if type(generation) is int else 0


def _conditions(xr: Object) -> list[Object]:
    return read_conditions(xr.get("status"))


def _with_status(xr: Object, conditions: list[Object]) -> Object:
    status = xr.get("status")
    return {**xr, "status": {**(status if isinstance(status, dict) else {}), "conditions": conditions}}


def _paused_event() -> Event:
    return Event(NORMAL, PAUSED, "Reconciliation is paused via the pause annotation")
