"""One composite resource, reconciled: choose, compose, write what differs, tell.

The order of writes is the engine's promise: what is no longer desired goes first, references are saved
before anything is created (if we die in between, the next run still knows what it made), then the resources,
then the status. Each write happens only if it changes something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from crossply.compose.collection import Deletion
from crossply.compose.engine import Job, Outcome, compose
from crossply.compose.errors import ComposeError, ObservedError
from crossply.compose.events import (
    NORMAL,
    PAUSED,
    REQUEST_HANDLED,
    Event,
)
from crossply.compose.machinery import Machinery, secret_place
from crossply.compose.messages import Requirements, Snapshot
from crossply.compose.metadata import annotations_of, name_of, namespace_of, uid_of
from crossply.compose.observed import Observed, observe
from crossply.compose.pipeline import Told
from crossply.compose.recipe import Recipe
from crossply.compose.verdict import DELETING, SYNCED, conclude
from crossply.compose.verdict import PAUSED as PAUSED_CONDITION
from crossply.compose.watched_resources import watched_status
from crossply.compose.world import decode_data
from crossply.control.claims.events import tell_claim
from crossply.control.composites.answering import ClusterAnswers
from crossply.control.composites.attempt import Attempt
from crossply.control.composites.awaited import awaited_after, takes_effect_later
from crossply.control.composites.bounds import check_bounds
from crossply.control.composites.circles import check_depth, check_not_itself
from crossply.control.composites.circuit import Circuit
from crossply.control.composites.composed_store import CANNOT_OBSERVE, ComposedStore
from crossply.control.composites.composed_writes import ComposedWrites
from crossply.control.composites.connection_secrets import (
    PublishFailed,
    allowed,
    find_secret,
    publish,
)
from crossply.control.composites.dependencies import Interest
from crossply.control.composites.events import admitted, bounded, failure, joined, selections
from crossply.control.composites.legacy_status import engine_status
from crossply.control.composites.looking_again import polled_after
from crossply.control.composites.preparation import FINALIZER, Preparation
from crossply.control.composites.run_guard import RunGuard
from crossply.control.composites.selecting import Compositions
from crossply.control.composites.watched_refs import WatchedRefsField
from crossply.control.composites.writes import CompositeWrites
from crossply.control.controller import Waiting
from crossply.control.definitions.service_account import explain_refusal
from crossply.control.kinds import SECRET
from crossply.control.plane import Plane
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition
from crossply.kube.failures import Conflict, KubeError
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.values import Object

Wake = Callable[[str, str, bool], None]
"""Enqueues the composite resource of a namespace and name; if true, once more a moment later."""
_SCHEMA_SECONDS = 1.0
"""How soon to reconcile again when a field was just added to the schema of the composite resource."""


class Decision(NamedTuple):
    """What one run of the pipeline decided."""

    outcome: Outcome
    secret: Object | None
    """The connection secret as it was."""
    look_again_after: float


class Run(NamedTuple):
    """What one run of the pipeline decided and did."""

    xr: Object
    outcome: Outcome
    unsynced: set[str]
    """The names of those composed resources that the API refused."""
    secret: Object | None
    """The connection secret as it was."""
    look_again_after: float

    @property
    def made_something(self) -> bool:
        """Whether there is more to see than there was when it began."""
        return any(each.observed is None and each.name not in self.unsynced for each in self.outcome.composed)


class CompositeReconciler:
    """Reconciles the composite resources of one definition."""

    def __init__(
        self,
        plane: Plane,
        definition: Definition,
        kind: Kind,
        machinery: Machinery,
        compositions: Compositions,
        composed: ComposedStore,
        cache: Informer,
        circuit: Circuit,
        wake: Wake,
    ) -> None:
        self._plane = plane
        self._definition = definition
        self._kind = kind
        self._machinery = machinery
        self._compositions = compositions
        self._composed = composed
        self._writes = ComposedWrites(plane, composed)
        self._cache = cache
        self._own = CompositeWrites(plane, kind, cache, circuit)
        self._watched_refs = WatchedRefsField(plane, kind)
        self._circuit = circuit
        self._wake = wake
        self._required: dict[str, dict[str, Requirements]] = {}
        """What the last run of each composite resource required, by its UID."""
        self._handled: dict[str, str] = {}
        """The last request to reconcile that was handled, by UID: the API does not keep it."""

    async def reconcile(self, xr: Object) -> float:
        """Bring one composite resource, and all it is made of, in line.

        Returns the seconds after which to look at it again without being asked to; 0 for never.
        """
        if annotations_of(xr).get("crossplane.io/paused") == "true":
            event = Event(NORMAL, PAUSED, "Reconciliation is paused via the pause annotation")
            self._plane.recorder.record(xr, event)
            await self._own.status(xr, xr.get("status") or {}, (PAUSED_CONDITION,))
            return 0.0
        self._note_request(xr)
        if xr["metadata"].get("deletionTimestamp"):
            await self._let_go(xr)
            return 0.0
        attempt = Attempt(RunGuard(self._cache, xr))
        try:
            return await self._compose(xr, attempt)
        except Waiting:
            # Somebody wrote in between, or is about to: what they write is looked at next.
            raise
        except CrossplyError as problem:
            composed = await attempt.composed(self._plane.discovery)
            explained = explain_refusal(problem, self._definition, composed)
            await self._tell_failure(self._own.latest(xr), attempt.told, explained)
            raise explained from problem

    async def _let_go(self, xr: Object) -> None:
        """Nothing is deleted here: owner references let what was composed go with its owner."""
        finalizers = xr["metadata"].get("finalizers") or []
        if FINALIZER not in finalizers:
            return
        xr = await self._own.status(xr, xr.get("status") or {}, (DELETING, SYNCED))
        left = [each for each in finalizers if each != FINALIZER]
        version = xr["metadata"]["resourceVersion"]
        body = {"metadata": {"finalizers": left or None, "resourceVersion": version}}
        await self._plane.own.patch_merge(self._kind, name_of(xr), body, namespace_of(xr))

    def forget(self, uid: str, namespace: str, name: str) -> None:
        """It is gone: nothing about it matters any more."""
        self.forget_uid(uid)
        self._circuit.forget((namespace, name))
        self._plane.dependencies.forget((self._kind, namespace, name))
        self._plane.functions.unregister_caller((self._kind, namespace, name))

    def forget_uid(self, uid: str) -> None:
        """It is gone, and another one has its name."""
        self._required.pop(uid, None)
        self._handled.pop(uid, None)

    def _note_request(self, xr: Object) -> None:
        token = annotations_of(xr).get("crossplane.io/reconcile-requested-at")
        if token and self._handled.get(uid_of(xr)) != token:
            self._handled[uid_of(xr)] = token
            self._plane.recorder.record(xr, Event(NORMAL, REQUEST_HANDLED, "Handling reconcile request"))

    async def _compose(self, xr: Object, attempt: Attempt) -> float:
        try:
            run = await self._run(xr, attempt)
            if run.made_something:
                # What was made a moment ago may be all that was missing: look once more, and tell once.
                await self._tell(run.xr, run.outcome.events)
                attempt.told.forget()
                run = await self._run(run.xr, attempt)
            # Before it is told that all is well: what changed meanwhile is looked at first.
            self._follow_dependencies(xr, attempt.interests)
            is_complete = await self._conclude(run, attempt.interests)
        except Waiting:
            # It is run again at once: what it depends on is known then.
            raise
        except CrossplyError as problem:
            self._follow_dependencies(xr, attempt.interests | awaited_after(problem))
            raise
        if not is_complete:
            return _SCHEMA_SECONDS
        return run.look_again_after or polled_after(run.xr, self._plane.shortest_poll)

    def _follow_dependencies(self, xr: Object, interests: set[Interest]) -> None:
        place, later = (namespace_of(xr), name_of(xr)), takes_effect_later(interests)
        self._plane.dependencies.follow((self._kind, *place), interests, lambda: self._wake(*place, later))

    async def _run(self, xr: Object, attempt: Attempt) -> Run:
        """Run the pipeline, and do what it decided."""
        prepared = Preparation(xr, self._machinery, self._definition, self._compositions)
        try:
            decision = await self._decide(prepared, attempt)
        except Waiting:
            raise
        except CrossplyError:
            await self._save_choice(xr, prepared)
            raise
        outcome = decision.outcome
        xr = await self._save_references(xr, prepared, outcome)
        unsynced = await self._writes.apply_all(xr, outcome)
        attempt.interests.update(
            [await self._writes.place_of(each.object) for each in outcome.composed if each.name in unsynced]
        )
        return Run(xr, outcome, unsynced, decision.secret, decision.look_again_after)

    async def _decide(self, prepared: Preparation, attempt: Attempt) -> Decision:
        """What is to be composed; what is no longer desired is gone by then."""
        recipe = prepared.prepare(self._plane.now())
        xr = prepared.xr
        check_depth(xr, self._plane.informers.running())
        self._follow_functions(xr, recipe)
        composition, told, interests = recipe.composition.name, attempt.told, attempt.interests
        references = self._machinery.read(xr, self._machinery.references) or ()
        attempt.composes(composition, references, namespace_of(xr))
        found = await self._composed.load(xr, self._machinery)
        interests.update(self._composed.secrets_of(found))
        secret = await find_secret(self._plane, xr) if self._machinery.publishes else None
        details = decode_data(secret) if secret is not None else {}
        required = self._required.get(uid_of(xr), {})
        observed = _observed(found, xr)
        capabilities = self._plane.capabilities
        job = Job(Snapshot(xr), recipe, observed, details, {}, required, capabilities)
        answers = ClusterAnswers(self._plane, interests, check=attempt.guard.check)
        try:
            outcome = await answers.drive(compose(job, told))
        except ComposeError as problem:
            raise problem.within("cannot compose resources") from None
        finally:
            self._required[uid_of(xr)] = told.requirements
        attempt.composes(composition, (each.object for each in outcome.composed), namespace_of(xr))
        check_not_itself(xr, outcome.composed)
        await check_bounds(self._plane.discovery, self._definition, outcome.composed)
        await self._collect(outcome.deletions, interests)
        return Decision(outcome, secret, answers.look_again_after)

    async def _collect(self, deletions: Iterable[Deletion], interests: set[Interest]) -> None:
        try:
            await self._writes.collect_all(deletions)
        except ComposeError:
            # Something may protect one of them; when that ends, it loses a mark.
            interests.update([await self._writes.place_of(each.snapshot.object) for each in deletions])
            raise

    async def _save_choice(self, xr: Object, prepared: Preparation) -> None:
        """Save what was selected before a run failed: the next one, and whoever looks, builds on it."""
        try:
            saved = await self._own.change(xr, prepared.xr)
        except KubeError:
            # Why the run failed is told; what could not be saved now is saved by the next run.
            return
        await self._tell(saved, selections(prepared.selected))

    async def _save_references(self, xr: Object, prepared: Preparation, outcome: Outcome) -> Object:
        desired = self._machinery.with_field(prepared.xr, self._machinery.references, outcome.references)
        try:
            saved = await self._own.change(xr, desired)
        except KubeError as problem:
            message = f"cannot compose resources: cannot update composed resource references: {problem}"
            raise ComposeError(message, hint=problem.hint) from problem
        await self._tell(saved, selections(prepared.selected))
        return saved

    def _follow_functions(self, xr: Object, recipe: Recipe) -> None:
        place = (namespace_of(xr), name_of(xr))
        steps = recipe.composition.steps
        self._plane.functions.register_caller((self._kind, *place), steps, lambda: self._wake(*place, False))

    async def _tell(self, xr: Object, events: Iterable[Event]) -> None:
        told = bounded(events)
        for event in told:
            self._plane.recorder.record(xr, event)
        await tell_claim(self._plane, xr, told)

    async def _publish(self, run: Run, interests: set[Interest]) -> str:
        """Publish connection details, as legacy composite resources do; when, if anything changed."""
        if not self._machinery.publishes:
            return ""
        details = allowed(run.outcome.connection_details, self._definition.connection_secret_keys)
        try:
            return await publish(self._plane, run.xr, details, run.secret)
        except PublishFailed:
            interests.add(Interest(SECRET, *secret_place(run.xr)))
            raise

    async def _conclude(self, run: Run, interests: set[Interest]) -> bool:
        """Write the status; whether all of it could be written."""
        xr, outcome = run.xr, run.outcome
        published = await self._publish(run, interests)
        verdict = conclude(outcome.composed, run.unsynced, outcome.composite_ready)
        status = outcome.composite.get("status")
        status = status if isinstance(status, dict) else {}
        conditions = admitted(outcome.conditions, xr.get("status") or {})
        if self._machinery.publishes:
            status = {**status, **engine_status(xr.get("status") or {}, conditions, published)}
        # On the status that a function set, too: what is watched is for the engine to say.
        is_complete = not outcome.watched or await self._watched_refs.is_served()
        if is_complete:
            status = {**status, **watched_status(outcome.watched)}
        changes = (*conditions, *verdict.conditions)
        try:
            await self._own.status(xr, status, changes)
        except KubeError as problem:
            told = f"cannot compose resources: cannot apply composite resource status: {problem}"
            raise ComposeError(told, hint=problem.hint) from problem
        await self._tell(xr, (*outcome.events, *joined(verdict.events)))
        return is_complete

    async def _tell_failure(self, xr: Object, told: Told, problem: CrossplyError) -> None:
        status = xr.get("status") or {}
        conditions = admitted(told.conditions, status)
        if self._machinery.publishes:
            status = {**status, **engine_status(status, conditions)}
        verdict = failure(problem, conditions, status)
        await self._tell(xr, (*told.events, *verdict.events))
        try:
            await self._own.status(xr, status, verdict.conditions)
        except (KubeError, Conflict):
            # The cause is already being reported; a status that cannot be written now is written next time.
            return


def _observed(found: Iterable[Observed], xr: Object) -> dict[str, Observed]:
    try:
        return observe(found, uid_of(xr))
    except ObservedError as problem:
        raise problem.within(CANNOT_OBSERVE) from None
