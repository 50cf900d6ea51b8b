"""Reconciling composite resources in a cluster: the driver of `compose.reconcile` that reads and writes.

What is reconciled, in which order things are written and what is reported is decided there. Each write here
happens only if it changes something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from crossply.compose.connection_secret import decode_data, secret_place
from crossply.compose.effect_driver import Handlers, drive_async
from crossply.compose.effects import (
    AcceptRequest,
    Applied,
    ApplyComposed,
    CountOwners,
    DeleteComposed,
    Diagnose,
    Diagnosis,
    FetchComposition,
    FindScope,
    Observation,
    Observe,
    PublishDetails,
    RecordEvents,
    RemoveFinalizer,
    SaveComposite,
    SelectComposition,
    SelectRevision,
    ServesWatchedRefs,
    WatchDependencies,
    WriteStatus,
)
from crossply.compose.engine_field_paths import Machinery
from crossply.compose.errors import ComposeError
from crossply.compose.function_messages import Requirements
from crossply.compose.object_metadata import name_of, namespace_of, text_in, uid_of
from crossply.compose.pipeline import PipelineReport
from crossply.compose.prepared_composition import PreparedComposition
from crossply.compose.reconcile import Reconciled, Settings, reconcile
from crossply.compose.selection import Selected
from crossply.control.composite_dependency_watches import Interest, awaited_after, takes_effect_later
from crossply.control.composites.circuit_breaker import CircuitBreaker
from crossply.control.composites.cluster_reads import ClusterReads
from crossply.control.composites.composed_store import ComposedStore, count_owners
from crossply.control.composites.composed_writes import ComposedWrites
from crossply.control.composites.composite_writes import (
    FINALIZER,
    CompositeWrites,
    WatchedRefsField,
    record_events,
)
from crossply.control.composites.composition_selection import Compositions
from crossply.control.composites.connection_secrets import UnreportedPublications, find_secret, publish
from crossply.control.composites.polling import poll_interval, spread
from crossply.control.composites.reconcile_reasons import (
    FUNCTION_CHANGED,
    STARTED,
    Triggers,
)
from crossply.control.composites.run_deadline import RunGuard
from crossply.control.composites.service_account import explain_refusal
from crossply.control.controller_context import Plane
from crossply.control.rbac_grant_commands import Composed, Place
from crossply.kinds.definition import Definition
from crossply.kube.controller import Requeue, Waiting
from crossply.kube.core_kinds import SECRET
from crossply.kube.discovery import Discovery, UnknownKind
from crossply.kube.failures import KubeError
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.runs.capture import CallNote, Capture
from crossply.runs.recorder import RunRecorder
from crossply.values import Object

Enqueue = Callable[[str, str, bool, str], None]
"""Enqueues the composite resource of a namespace and name for a reason; if true, again a moment later."""
_SCHEMA_SECONDS = 1.0
"""How soon to reconcile again when a field was just added to the schema of the composite resource."""
_UNREPORTED = (Waiting,)
"""The pause before a retry where another client is about to write. The same goes for a write conflict."""


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
        informer: Informer,
        circuit: CircuitBreaker,
        enqueue: Enqueue,
        started: str = STARTED,
    ) -> None:
        self.plane = plane
        self.definition = definition
        self.kind = kind
        self.machinery = machinery
        self.compositions = compositions
        self.composed = composed
        self.composed_writes = ComposedWrites(plane, composed)
        self.informer = informer
        self.writes = CompositeWrites(plane, kind, informer)
        self.watched_refs = WatchedRefsField(plane, kind)
        self.enqueue = enqueue
        self.handled: dict[str, str] = {}
        """The last request to reconcile that was handled, by UID: the API does not keep it."""
        self.publications = UnreportedPublications()
        self.triggers = Triggers(started)
        self._circuit = circuit
        self._required: dict[str, Mapping[str, Requirements]] = {}
        """What the last run of each composite resource required, by its UID."""

    async def reconcile(self, xr: Object) -> Requeue | None:
        """Bring one composite resource, and all it is made of, in line."""
        report = PipelineReport(self._required.get(uid_of(xr)))
        settings = Settings(
            self.machinery,
            self.plane.now,
            self.definition,
            FINALIZER,
            self._circuit.condition((namespace_of(xr), name_of(xr))),
            self.plane.capabilities,
        )
        driver = _Driver(self, xr)
        try:
            if self.plane.runs is None:
                work = reconcile(xr, settings, report)
                reconciled = await drive_async(work, driver.handlers(), _UNREPORTED)
            else:
                reconciled = await self._record(xr, settings, report, driver, self.plane.runs)
        finally:
            self._required[uid_of(xr)] = report.requirements
        return None if reconciled is None else driver.requeue(reconciled)

    async def _record(
        self, xr: Object, settings: Settings, report: PipelineReport, driver: _Driver, runs: RunRecorder
    ) -> Reconciled | None:
        """Reconcile, and record all effects and their answers."""
        key = (namespace_of(xr), name_of(xr))
        capture = Capture(xr, settings, report.requirements, self.triggers.take(key, xr), calls=driver.calls)
        try:
            with runs.recording(capture):
                work = reconcile(xr, capture.settings, report)
                return await drive_async(work, driver.handlers(), _UNREPORTED, capture.answered)
        finally:
            self.triggers.run_finished(key, capture.generation(), capture.problem)

    def forget(self, uid: str, namespace: str, name: str) -> None:
        """It is gone: nothing about it matters any more."""
        self.forget_uid(uid)
        self._circuit.forget((namespace, name))
        self.triggers.forget((namespace, name))
        self.plane.dependencies.forget((self.kind, namespace, name))
        self.plane.functions.unregister_caller((self.kind, namespace, name))

    def forget_uid(self, uid: str) -> None:
        """It is gone, and another one has its name."""
        self._required.pop(uid, None)
        self.handled.pop(uid, None)
        self.publications.forget(uid)
        if self.plane.runs is not None:
            self.plane.runs.forget(uid)


class _Driver:
    """Answers the effects of one reconcile."""

    def __init__(self, reconciler: CompositeReconciler, xr: Object) -> None:
        self._reconciler = reconciler
        self._plane = reconciler.plane
        self._key = (namespace_of(xr), name_of(xr))
        self._interests: set[Interest] = set()
        """What the composite resource depends on."""
        self._secret: Object | None = None
        """The composite resource's own connection Secret."""
        guard = RunGuard(reconciler.informer, xr)
        self._reads = ClusterReads(self._plane, self._interests, check=guard.check)

    def handlers(self) -> Handlers:
        reconciler = self._reconciler
        return {
            **self._reads.handlers(),
            AcceptRequest: self._accept_request,
            SelectComposition: self._select_composition,
            SelectRevision: self._select_revision,
            FetchComposition: self._fetch_composition,
            CountOwners: self._count_owners,
            Observe: self._observe,
            FindScope: self._find_scope,
            ServesWatchedRefs: lambda _: reconciler.watched_refs.is_served(),
            RecordEvents: self._record_events,
            DeleteComposed: self._delete_composed,
            SaveComposite: lambda effect: reconciler.writes.change(effect.live, effect.desired),
            ApplyComposed: self._apply_composed,
            PublishDetails: self._publish_details,
            WatchDependencies: lambda _: self._watch_dependencies(self._interests),
            WriteStatus: lambda effect: reconciler.writes.status(effect.live, effect.status),
            RemoveFinalizer: lambda effect: reconciler.writes.remove_finalizer(effect.xr),
            Diagnose: self._diagnose,
        }

    @property
    def calls(self) -> list[CallNote]:
        """How functions were called, in order."""
        return self._reads.calls

    def requeue(self, reconciled: Reconciled) -> Requeue | None:
        """When to reconcile again although nothing happens."""
        if not reconciled.is_complete:
            return Requeue(spread(_SCHEMA_SECONDS))
        seconds = self._reads.fresh_for or poll_interval(reconciled.xr, self._plane.shortest_poll)
        return None if seconds is None else Requeue(spread(seconds))

    def _accept_request(self, request: AcceptRequest) -> bool:
        handled, uid = self._reconciler.handled, uid_of(request.xr)
        is_new = handled.get(uid) != request.token
        handled[uid] = request.token
        return is_new

    def _select_composition(self, select: SelectComposition) -> Selected:
        kind = self._reconciler
        return kind.compositions.select(select.xr, kind.machinery, kind.definition)

    def _select_revision(self, select: SelectRevision) -> Selected:
        kind = self._reconciler
        return kind.compositions.select_revision(
            select.xr, kind.machinery, kind.definition, select.composition
        )

    def _fetch_composition(self, fetch: FetchComposition) -> PreparedComposition:
        return self._reconciler.compositions.prepared_composition(fetch.revision, self._plane.now())

    def _count_owners(self, count: CountOwners) -> int:
        return count_owners(count.xr, self._plane.informers.running(), count.most)

    async def _observe(self, effect: Observe) -> Observation:
        kind, xr, composition = self._reconciler, effect.xr, effect.prepared_composition.composition
        if self._plane.inspector is not None:
            self._reads.inspection = self._plane.inspector.begin_composition(
                composition.name, composition.steps
            )
        self._plane.functions.register_caller(
            (kind.kind, *self._key),
            composition.steps,
            lambda: kind.enqueue(*self._key, False, FUNCTION_CHANGED),
        )
        resources = await kind.composed.load(xr, kind.machinery)
        self._interests.update(kind.composed.secrets_of(resources))
        if kind.machinery.publishes and secret_place(xr)[1]:
            # Its own secret, too: whoever changes or deletes it finds it restored.
            self._interests.add(Interest(SECRET, *secret_place(xr)))
            self._secret = await find_secret(self._plane, xr)
        return Observation(resources, decode_data(self._secret) if self._secret is not None else {})

    async def _find_scope(self, find: FindScope) -> bool | None:
        try:
            return (await self._plane.discovery.kind_for(find.api_version, find.kind)).namespaced
        except UnknownKind:
            return None

    async def _record_events(self, effect: RecordEvents) -> None:
        await record_events(self._plane, effect.xr, effect.events, effect.progress)

    async def _delete_composed(self, effect: DeleteComposed) -> None:
        try:
            await self._reconciler.composed_writes.collect_all(effect.deletions)
        except ComposeError:
            # Something may protect one of them. It loses a label when that ends.
            await self._note_places(deletion.snapshot.object for deletion in effect.deletions)
            raise

    async def _apply_composed(self, effect: ApplyComposed) -> Applied:
        applied = await self._reconciler.composed_writes.apply_all(effect.xr, effect.composed)
        refused = (resource.object for resource in effect.composed if resource.name in applied.refused)
        await self._note_places(refused)
        return applied

    async def _note_places(self, objects: Iterable[Object]) -> None:
        """Depend on objects: whatever happens to one of them may let it be written."""
        for obj in objects:
            self._interests.add(await self._reconciler.composed_writes.place_of(obj))

    async def _publish_details(self, effect: PublishDetails) -> str | None:
        published = await publish(self._plane, effect.xr, effect.details, self._secret)
        return self._reconciler.publications.time_to_report(effect.xr, published)

    def _watch_dependencies(self, interests: set[Interest]) -> None:
        enqueue, settles = self._reconciler.enqueue, takes_effect_later(interests)
        self._plane.dependencies.watch(
            (self._reconciler.kind, *self._key),
            interests,
            lambda source: enqueue(*self._key, settles, source),
        )

    async def _diagnose(self, effect: Diagnose) -> Diagnosis:
        problem = effect.problem
        self._watch_dependencies(self._interests | awaited_after(problem))
        composed = await composed_places(
            self._plane.discovery, effect.composition, effect.composed, namespace_of(effect.xr)
        )
        explained = explain_refusal(problem, self._reconciler.definition, composed)
        cause = problem.__cause__
        is_invalid = isinstance(cause, KubeError) and cause.status == 422
        return Diagnosis(explained, self._reconciler.writes.latest(effect.xr), is_invalid)


async def composed_places(
    discovery: Discovery, composition: str, objects: Iterable[Object], namespace: str
) -> Composed:
    """What it takes rights for to compose objects, or what references name, in a namespace or in their own.

    Rights for kinds that are not served cannot be granted.
    """
    named = {
        (
            text_in(obj, "apiVersion"),
            text_in(obj, "kind"),
            namespace or namespace_of(obj) or text_in(obj, "namespace"),
        )
        for obj in objects
    }
    places = set()
    for api_version, kind_name, place in named:
        try:
            kind = await discovery.kind_for(api_version, kind_name)
        except UnknownKind:
            continue
        resource = kind.resource if kind.group else kind.plural
        places.add(Place(resource, place if kind.namespaced else ""))
    return Composed(composition, frozenset(places))
