"""One reconcile of a composite resource, without I/O: what is read, decided, written and reported, in order.

The order of writes is the engine's promise: what is no longer desired goes first; references are saved before
anything is created (if we die in between, the next reconcile still knows what it made); then the resources,
then the status. Drivers skip a write that changes nothing. The order is decided here.

What is not to be reported, such as a write conflict, a driver does not throw into this generator: it ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from crossply.compose.composed_resource_restrictions import (
    check_bounds,
    check_depth,
    check_named,
    check_not_itself,
)
from crossply.compose.composite_preparation import Preparation
from crossply.compose.conditions import (
    DELETING,
    RECONCILE_PAUSED,
    RESPONSIVE,
    SYNCED,
    put_conditions,
    read_conditions,
    set_conditions,
)
from crossply.compose.connection_secret import published_details
from crossply.compose.effects import (
    AcceptRequest,
    Applied,
    ApplyComposed,
    DeleteComposed,
    Diagnose,
    Diagnosis,
    Effects,
    Observation,
    Observe,
    PublishDetails,
    RecordEvents,
    RemoveFinalizer,
    SaveComposite,
    ServesWatchedRefs,
    WatchDependencies,
    WriteStatus,
)
from crossply.compose.engine import Job, Outcome, compose
from crossply.compose.engine_field_paths import Machinery
from crossply.compose.errors import ComposeError, ObservedError
from crossply.compose.events import (
    COMPOSE,
    NORMAL,
    PAUSED,
    PUBLISH,
    REQUEST_HANDLED,
    SELECT,
    WARNING,
    Event,
    StatusCondition,
)
from crossply.compose.function_messages import CAPABILITIES, Snapshot
from crossply.compose.object_metadata import (
    annotations_of,
    finalizers_of,
    is_paused,
    metadata_of,
    uid_of,
    with_annotation,
)
from crossply.compose.observed_resources import observe
from crossply.compose.pipeline import PipelineReport
from crossply.compose.prepared_composition import PreparedComposition
from crossply.compose.ready_and_synced_conditions import (
    admit_conditions,
    legacy_status,
    report_failure,
    report_success,
)
from crossply.compose.watch_requirements import watched_status
from crossply.errors import CrossplyError
from crossply.kinds.composition import Step
from crossply.kinds.composition_native_step import ENVIRONMENT_REFERENCES
from crossply.values import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.kinds.definition import Definition

CANNOT_OBSERVE = "cannot compose resources: cannot get existing composed resources"


class Settings(NamedTuple):
    """What a reconcile goes by, beside the composite resource."""

    machinery: Machinery
    now: Callable[[], str]
    definition: Definition | None = None
    """None where only a Composition is known."""
    finalizer: str | None = None
    """What keeps a deleted composite resource until it is reconciled; None where nothing does."""
    responsive: StatusCondition = RESPONSIVE
    capabilities: tuple[int, ...] = CAPABILITIES
    """What functions are offered."""
    context: Object = {}  # noqa: RUF012 - read only


class Reconciled(NamedTuple):
    """A composite resource that was composed."""

    xr: Object
    outcome: Outcome
    is_complete: bool
    """Whether all of its status could be written: its schema may get a field a moment later."""


def reconcile(xr: Object, settings: Settings, report: PipelineReport) -> Effects[Reconciled | None]:
    """Bring a composite resource, and all it is made of, in line; None where it is not composed now.

    `report` has the results of functions, also when the reconcile fails.
    """
    reconciliation = _Reconciliation(xr, settings, report)
    if is_paused(xr):
        yield from reconciliation.pause()
        return None
    yield from _accept_request(xr)
    if metadata_of(xr).get("deletionTimestamp"):
        yield from reconciliation.delete()
        return None
    try:
        return (yield from reconciliation.compose())
    except CrossplyError as problem:
        raise (yield from reconciliation.fail(problem)) from problem


def _accept_request(xr: Object) -> Effects[None]:
    token = annotations_of(xr).get("crossplane.io/reconcile-requested-at")
    if token and (yield AcceptRequest(xr, token)):
        yield RecordEvents(xr, (Event(NORMAL, REQUEST_HANDLED, "Handling reconcile request"),))


class _Reconciliation:
    """One reconcile under way."""

    __slots__ = ("_composed", "_composition", "_live", "_reason", "_report", "_settings", "_steps")

    def __init__(self, xr: Object, settings: Settings, report: PipelineReport) -> None:
        self._live = xr
        """The composite resource as it was last written."""
        self._settings = settings
        self._report = report
        self._reason = SELECT
        """The reason of the event about a failure."""
        self._composition = ""
        self._steps: tuple[Step, ...] = ()
        self._composed: list[Object] = []
        """What is to be composed, and references to what was: composing may need rights for it."""

    def pause(self) -> Effects[None]:
        event = Event(NORMAL, PAUSED, "Reconciliation is paused via the pause annotation")
        yield RecordEvents(self._live, (event,))
        yield from self._write_status(_status_of(self._live), (RECONCILE_PAUSED,))

    def delete(self) -> Effects[None]:
        """Nothing is deleted here: owner references let what was composed go with its owner."""
        finalizer = self._settings.finalizer
        if finalizer is not None and finalizer not in finalizers_of(self._live):
            return
        yield from self._write_status(_status_of(self._live), (DELETING, SYNCED))
        if finalizer is not None:
            yield RemoveFinalizer(self._live)

    def compose(self) -> Effects[Reconciled]:
        outcome, applied = yield from self._run()
        if applied.is_observable and _creates_any(outcome, applied):
            # What was created a moment ago may be all that was missing: run once more, and report once.
            yield RecordEvents(self._live, outcome.events)
            self._report.clear()
            outcome, applied = yield from self._run()
        # Before the status says that all is well: what changed meanwhile is reconciled first.
        yield WatchDependencies(self._live)
        is_complete = yield from self._conclude(outcome, applied)
        return Reconciled(self._live, outcome, is_complete)

    def fail(self, problem: CrossplyError) -> Effects[CrossplyError]:
        """Report why the reconcile failed; returns the problem as it was reported."""
        diagnosis: Diagnosis = yield Diagnose(self._live, problem, self._composition, self._composed)
        self._live = live = diagnosis.live
        status = _status_of(live)
        conditions = admit_conditions(self._report.conditions, status)
        if self._settings.machinery.publishes:
            status = {**status, **legacy_status(status, conditions)}
        failure = report_failure(diagnosis.problem, self._reason, conditions, status, diagnosis.is_invalid)
        yield RecordEvents(live, (*failure.events, *self._report.events))
        # The cause is being reported. A status that cannot be written now is written next time.
        with suppress(CrossplyError):
            yield from self._write_status(status, failure.conditions)
        return diagnosis.problem

    def _run(self) -> Effects[tuple[Outcome, Applied]]:
        """Run the pipeline, and do what it decided."""
        settings = self._settings
        preparation = Preparation(self._live, settings.machinery, settings.definition, settings.finalizer)
        try:
            outcome = yield from self._decide(preparation)
        except CrossplyError:
            yield from self._save_selection(preparation)
            raise
        yield from self._save_references(preparation, outcome)
        applied: Applied = yield ApplyComposed(self._live, outcome.composed)
        yield from self._record_refused(applied.refused)
        return outcome, applied

    def _decide(self, preparation: Preparation) -> Effects[Outcome]:
        """What is to be composed; what is no longer desired is gone by then."""
        prepared_composition = yield from self._prepare(preparation)
        xr = preparation.xr
        yield from check_depth(xr)
        self._composition = prepared_composition.composition.name
        self._steps = prepared_composition.composition.steps
        machinery, definition = self._settings.machinery, self._settings.definition
        self._composed = list(machinery.read(xr, machinery.references) or ())
        outcome = yield from self._compose(xr, prepared_composition)
        self._composed += (resource.object for resource in outcome.composed)
        check_not_itself(xr, outcome.composed)
        if definition is not None:
            check_named(outcome.composed)
            yield from check_bounds(definition, outcome.composed)
        if outcome.deletions:
            yield DeleteComposed(outcome.deletions)
        return outcome

    def _prepare(self, preparation: Preparation) -> Effects[PreparedComposition]:
        try:
            return (yield from preparation.prepare())
        finally:
            self._reason = preparation.reason

    def _compose(self, xr: Object, prepared_composition: PreparedComposition) -> Effects[Outcome]:
        observation: Observation = yield Observe(xr, prepared_composition)
        try:
            observed = observe(observation.resources, uid_of(xr))
        except ObservedError as problem:
            raise problem.within(CANNOT_OBSERVE) from None
        job = Job(
            Snapshot(self._with_responsive(xr)),
            prepared_composition,
            observed,
            observation.connection_details,
            self._settings.context,
            self._settings.capabilities,
        )
        try:
            return (yield from compose(job, self._report))
        except ComposeError as problem:
            raise problem.within("cannot compose resources") from None

    def _with_responsive(self, xr: Object) -> Object:
        """The composite resource as functions see it: with the condition that is known before they run."""
        status, changes = _status_of(xr), (self._settings.responsive,)
        before = read_conditions(status)
        conditions = set_conditions(before, changes, self._settings.now(), _generation_of(xr))
        return xr if conditions == before else {**xr, "status": {**status, "conditions": conditions}}

    def _save_selection(self, preparation: Preparation) -> Effects[None]:
        """Save what was selected before a run failed, for users to see and for the next run to use."""
        try:
            self._live = yield SaveComposite(self._live, preparation.xr)
        except CrossplyError:
            # The failure of the run is reported; what could not be saved now is saved by the next run.
            return
        yield from self._record_selection(preparation)

    def _save_references(self, preparation: Preparation, outcome: Outcome) -> Effects[None]:
        machinery = self._settings.machinery
        desired = machinery.with_field(preparation.xr, machinery.references, outcome.references)
        # The one field beside the status that counts: our own first step sets it.
        environment = annotations_of(outcome.composite).get(ENVIRONMENT_REFERENCES)
        if environment:
            desired = with_annotation(desired, ENVIRONMENT_REFERENCES, environment)
        try:
            self._live = yield SaveComposite(self._live, desired)
        except CrossplyError as problem:
            message = f"cannot compose resources: cannot update composed resource references: {problem}"
            raise ComposeError(message, hint=problem.hint) from problem
        yield from self._record_selection(preparation)

    def _record_selection(self, preparation: Preparation) -> Effects[None]:
        """Record one event: most often a Composition and its revision are selected at once."""
        if preparation.messages:
            yield RecordEvents(self._live, (Event(NORMAL, SELECT, "; ".join(preparation.messages)),))

    def _record_refused(self, refused: Mapping[str, str]) -> Effects[None]:
        if refused:
            events = [
                Event(WARNING, COMPOSE, f'cannot apply composed resource "{name}": {reason}')
                for name, reason in refused.items()
            ]
            yield RecordEvents(self._live, events)

    def _conclude(self, outcome: Outcome, applied: Applied) -> Effects[bool]:
        """Write the status; whether all of it could be written."""
        published = yield from self._publish(outcome)
        definition = self._settings.definition
        shows_cause = definition is not None and definition.shows_cause
        success = report_success(
            outcome.composed, applied.refused, outcome.composite_ready, shows_cause, self._steps
        )
        live_status = _status_of(self._live)
        conditions = admit_conditions(outcome.conditions, live_status)
        status = _status_of(outcome.composite)
        if self._settings.machinery.publishes:
            status = {**status, **legacy_status(live_status, conditions, published)}
        # On the status that a function set, too: what is watched is for the engine to say.
        is_complete = not outcome.watched or bool((yield ServesWatchedRefs()))
        if is_complete:
            status = {**status, **watched_status(outcome.watched)}
        try:
            yield from self._write_status(status, (*conditions, *success.conditions))
        except CrossplyError as problem:
            message = f"cannot compose resources: cannot apply composite resource status: {problem}"
            raise ComposeError(message, hint=problem.hint) from problem
        yield RecordEvents(self._live, outcome.events, success.progress)
        return is_complete

    def _publish(self, outcome: Outcome) -> Effects[str | None]:
        """Publish connection details, as legacy composite resources do; when, if anything changed."""
        definition = self._settings.definition
        if not self._settings.machinery.publishes:
            return None
        keys = definition.connection_secret_keys if definition is not None else ()
        details = published_details(outcome.connection_details, keys)
        self._reason = PUBLISH
        published: str | None = yield PublishDetails(self._live, details)
        self._reason = COMPOSE
        if published:
            event = Event(NORMAL, PUBLISH, "Successfully published connection details")
            yield RecordEvents(self._live, (event,))
        return published

    def _write_status(self, status: Object, changes: Iterable[StatusCondition]) -> Effects[None]:
        """Write a status with the live conditions, of which some change."""
        conditions = put_conditions(read_conditions(status), read_conditions(_status_of(self._live)))
        changes, generation = (self._settings.responsive, *changes), _generation_of(self._live)
        conditions = set_conditions(conditions, changes, self._settings.now(), generation)
        self._live = yield WriteStatus(self._live, {**status, "conditions": conditions})


def _creates_any(outcome: Outcome, applied: Applied) -> bool:
    """Whether there is more to observe than there was before the run."""
    return any(
        resource.observed is None and resource.name not in applied.refused for resource in outcome.composed
    )


def _status_of(obj: Object) -> Object:
    status = obj.get("status")
    return status if isinstance(status, dict) else {}


def _generation_of(xr: Object) -> int:
    generation = metadata_of(xr).get("generation")
    return generation if type(generation) is int else 0
