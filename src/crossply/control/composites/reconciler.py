"""One composite resource, reconciled: choose, compose, write what differs, tell.

The order of writes is the engine's promise: what is no longer desired goes first, references are saved
before anything is created (if we die in between, the next run still knows what it made), then the resources,
then the status. Each write happens only if it changes something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from crossply.compose.configuration import check_compatible, configure
from crossply.compose.contract import check_contract
from crossply.compose.engine import Job, Outcome, compose
from crossply.compose.errors import ComposeError
from crossply.compose.events import (
    NORMAL,
    PAUSED,
    REQUEST_HANDLED,
    Event,
)
from crossply.compose.machinery import Machinery
from crossply.compose.messages import Requirements, Snapshot
from crossply.compose.metadata import annotations_of, name_of, namespace_of, uid_of
from crossply.compose.observed import observe
from crossply.compose.pipeline import Told
from crossply.compose.verdict import DELETING, SYNCED, conclude
from crossply.compose.verdict import PAUSED as PAUSED_CONDITION
from crossply.compose.watched_resources import watched_status
from crossply.compose.world import decode_data
from crossply.control.claims.events import tell_claim
from crossply.control.composites.answering import ClusterAnswers
from crossply.control.composites.bounds import check_bounds
from crossply.control.composites.circles import check_depth, check_not_itself
from crossply.control.composites.circuit import Circuit
from crossply.control.composites.composed_store import ComposedStore
from crossply.control.composites.composed_writes import ComposedWrites
from crossply.control.composites.connection_secrets import allowed, find_secret, publish
from crossply.control.composites.dependencies import Interest
from crossply.control.composites.events import admitted, bounded, failure, joined, selections
from crossply.control.composites.legacy_status import engine_status
from crossply.control.composites.looking_again import polled_after
from crossply.control.composites.selecting import Choice, Compositions
from crossply.control.composites.watched_refs import WatchedRefsField
from crossply.control.composites.writes import CompositeWrites
from crossply.control.definitions.service_account import explain_refusal
from crossply.control.plane import Plane
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition
from crossply.kube.cache import Cache
from crossply.kube.failures import Conflict, KubeError
from crossply.kube.kind import Kind
from crossply.values import Object

FINALIZER = "composite.apiextensions.crossplane.io"
_SCHEMA_SECONDS = 1.0
"""How soon to reconcile again when a field was just added to the schema of the composite resource."""

Wake = Callable[[str, str], None]
"""Has a composite resource of a namespace and name looked at again."""


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
        cache: Cache,
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
        told = Told()
        try:
            return await self._compose(xr, told)
        except Conflict:
            # Somebody wrote in between: what they wrote is looked at next, so there is nothing to tell.
            raise
        except CrossplyError as problem:
            explain_refusal(problem, self._definition)
            await self._tell_failure(self._own.latest(xr), told, problem)
            raise

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
        self._required.pop(uid, None)
        self._handled.pop(uid, None)
        self._circuit.forget((namespace, name))
        self._plane.dependencies.forget((self._kind, namespace, name))
        self._plane.functions.forget((self._kind, namespace, name))

    def _note_request(self, xr: Object) -> None:
        token = annotations_of(xr).get("crossplane.io/reconcile-requested-at")
        if token and self._handled.get(uid_of(xr)) != token:
            self._handled[uid_of(xr)] = token
            self._plane.recorder.record(xr, Event(NORMAL, REQUEST_HANDLED, "Handling reconcile request"))

    async def _compose(self, xr: Object, told: Told) -> float:
        interests: set[Interest] = set()
        try:
            run = await self._run(xr, told, interests)
            if run.made_something:
                # What was made a moment ago may be all that was missing: look once more, and tell once.
                await self._tell(run.xr, run.outcome.events)
                told.forget()
                run = await self._run(run.xr, told, interests)
        finally:
            # Also of a run that failed: what was missing may come.
            place = (namespace_of(xr), name_of(xr))
            self._plane.dependencies.follow((self._kind, *place), interests, lambda: self._wake(*place))
        if not await self._conclude(run):
            return _SCHEMA_SECONDS
        return run.look_again_after or polled_after(run.xr, self._plane.shortest_poll)

    async def _run(self, xr: Object, told: Told, interests: set[Interest]) -> Run:
        """Run the pipeline, and do what it decided; notes what the composite resource depends on."""
        choice = self._compositions.choose(xr, self._machinery, self._definition)
        self._follow_functions(xr, choice)
        check_compatible(xr, choice.recipe.composition)
        check_contract(self._definition, choice.recipe.composition)
        check_depth(xr, self._plane.caches.running())
        seen = self._configured(xr, choice)
        found = await self._composed.load(seen, self._machinery)
        interests.update(self._composed.secrets_of(found))
        secret = await find_secret(self._plane, seen) if self._machinery.publishes else None
        details = decode_data(secret) if secret is not None else {}
        required = self._required.get(uid_of(xr), {})
        observed = observe(found, uid_of(xr))
        capabilities = self._plane.capabilities
        job = Job(Snapshot(seen), choice.recipe, observed, details, {}, required, capabilities)
        answers = ClusterAnswers(self._plane, interests)
        try:
            outcome = await answers.drive(compose(job, told))
        except ComposeError as problem:
            # What was selected is kept: the next run, and whoever looks at it, builds on the same choice.
            await self._own.change(xr, seen)
            raise problem.within("cannot compose resources") from None
        finally:
            self._required[uid_of(xr)] = told.requirements
        check_not_itself(xr, outcome.composed)
        await check_bounds(self._plane.discovery, self._definition, outcome.composed)
        await self._writes.collect_all(outcome.deletions)
        xr = await self._own.change(
            xr, self._machinery.with_field(seen, self._machinery.references, outcome.references)
        )
        await self._tell(xr, selections(choice))
        unsynced = await self._writes.apply_all(xr, outcome)
        interests.update(
            [await self._writes.place_of(each) for each in outcome.composed if each.name in unsynced]
        )
        return Run(xr, outcome, unsynced, secret, answers.look_again_after)

    def _follow_functions(self, xr: Object, choice: Choice) -> None:
        place = (namespace_of(xr), name_of(xr))
        steps = choice.recipe.composition.steps
        self._plane.functions.follow((self._kind, *place), steps, lambda: self._wake(*place))

    async def _tell(self, xr: Object, events: Iterable[Event]) -> None:
        told = bounded(events)
        for event in told:
            self._plane.recorder.record(xr, event)
        await tell_claim(self._plane, xr, told)

    def _configured(self, xr: Object, choice: Choice) -> Object:
        """The composite resource as it will be once it is written."""
        machinery = self._machinery
        if choice.composition.changed:
            xr = machinery.with_field(xr, "compositionRef", {"name": choice.composition.name})
        if choice.revision_selector is not None:
            xr = machinery.with_field(xr, "compositionRevisionSelector", choice.revision_selector)
        if choice.revision.changed:
            xr = machinery.with_field(xr, "compositionRevisionRef", {"name": choice.revision.name})
        xr = configure(xr, machinery, choice.recipe.composition)
        finalizers = xr["metadata"].get("finalizers") or []
        if FINALIZER not in finalizers:
            xr = {**xr, "metadata": {**xr["metadata"], "finalizers": [*finalizers, FINALIZER]}}
        return xr

    async def _publish(self, xr: Object, outcome: Outcome, secret: Object | None) -> str:
        """Publish connection details, as legacy composite resources do; when, if anything changed."""
        if not self._machinery.publishes:
            return ""
        details = allowed(outcome.connection_details, self._definition.connection_secret_keys)
        return await publish(self._plane, xr, details, secret)

    async def _conclude(self, run: Run) -> bool:
        """Write the status; whether all of it could be written."""
        xr, outcome = run.xr, run.outcome
        published = await self._publish(xr, outcome, run.secret)
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
        except Conflict:
            raise
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
        except KubeError:
            # The cause is already being reported; a status that cannot be written now is written next time.
            return
