"""One reconcile of a composite resource in memory: what `render` and `test` show.

The driver of `compose.reconcile` that has no API server: objects are given, writes are kept, no time passes.
A composite resource without a UID gets one that is always the same, so that names are too.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from typing import Any, NamedTuple

from crossply.compose.connection_secret import decode_data, secret_place
from crossply.compose.effect_driver import Handlers, drive
from crossply.compose.effects import (
    AcceptRequest,
    Applied,
    ApplyComposed,
    CountOwners,
    DeleteComposed,
    Diagnose,
    Diagnosis,
    FetchComposition,
    Observation,
    Observe,
    PublishDetails,
    RecordEvents,
    SaveComposite,
    SelectComposition,
    SelectRevision,
    ServesWatchedRefs,
    WatchDependencies,
    WriteStatus,
)
from crossply.compose.engine import Outcome
from crossply.compose.engine_field_paths import Machinery
from crossply.compose.errors import ObservedError, RenderInputError, StepFailed
from crossply.compose.events import Event
from crossply.compose.function_messages import ResourceSelector, SchemaSelector, Snapshot
from crossply.compose.in_memory_cluster import CallFunction, InMemoryCluster, InMemoryReads
from crossply.compose.object_metadata import (
    controller_of,
    metadata_of,
    name_of,
    namespace_of,
    text_in,
    uid_of,
)
from crossply.compose.observed_resources import Observed
from crossply.compose.pipeline import PipelineReport
from crossply.compose.prepared_composition import PreparedComposition
from crossply.compose.reconcile import Settings, reconcile
from crossply.compose.selection import Selected
from crossply.errors import CrossplyError
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.values import Object
from crossply.values.api_version import format_kind

NOW = "2024-01-01T00:00:00Z"
"""The time at which everything rendered happens."""

RESOURCE_VERSION = "999"
"""What everything rendered has."""


class Rendered(NamedTuple):
    """Everything a reconcile would have written and recorded."""

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
    """One reconcile in memory. What was recorded and required stays readable when `run` fails."""

    __slots__ = (
        "_cluster",
        "_live",
        "_machinery",
        "_reads",
        "events",
        "report",
    )

    def __init__(self, machinery: Machinery, cluster: InMemoryCluster, call: CallFunction) -> None:
        self._machinery = machinery
        self._cluster = cluster
        self._reads = InMemoryReads(cluster, call)
        self._live: Object = {}
        """The composite resource as it was last written."""
        self.report = PipelineReport()
        self.events: list[Event] = []

    def run(
        self,
        xr: Object,
        prepared_composition: PreparedComposition,
        observed: Sequence[Object],
        context: Object,
    ) -> Rendered:
        """Reconcile the composite resource once."""
        xr = identify(xr)
        check_observed(xr, observed)
        if any(step.function == NATIVE_FUNCTION for step in prepared_composition.composition.steps):
            self._cluster.serve_earlier_configs()
        self._live = xr = self._with_references(xr, observed)
        settings = Settings(self._machinery, lambda: NOW, context=context)
        work = reconcile(xr, settings, self.report)
        reconciled = drive(work, self._handlers(prepared_composition, observed))
        return self._rendered() if reconciled is None else self._composed(reconciled.outcome)

    def after_failure(self) -> Rendered:
        """What a reconcile that failed has written: a status that says so."""
        return self._rendered()

    def _handlers(self, prepared_composition: PreparedComposition, observed: Sequence[Object]) -> Handlers:
        return {
            **self._reads.handlers(),
            AcceptRequest: _is_new_request,
            SelectComposition: lambda select: self._select(select.xr, prepared_composition),
            SelectRevision: lambda _: Selected("", changed=False),
            FetchComposition: lambda _: prepared_composition,
            CountOwners: lambda _: 0,
            Observe: lambda effect: self._observe(effect.xr, observed),
            ServesWatchedRefs: lambda _: True,
            RecordEvents: self._record,
            SaveComposite: lambda effect: self._write(effect.desired),
            DeleteComposed: _do_nothing,
            ApplyComposed: lambda _: Applied(is_observable=False),
            PublishDetails: _do_nothing,
            WatchDependencies: _do_nothing,
            WriteStatus: lambda effect: self._write({**effect.live, "status": effect.status}),
            Diagnose: self._diagnose,
        }

    def _select(self, xr: Object, prepared_composition: PreparedComposition) -> Selected:
        name = prepared_composition.composition.name
        return Selected(name, self._machinery.read(xr, "compositionRef") != {"name": name})

    def _observe(self, xr: Object, observed: Sequence[Object]) -> Observation:
        resources = [Observed(Snapshot(obj), self._connection_details(obj)) for obj in observed]
        return Observation(resources, self._connection_details(xr) if self._machinery.publishes else {})

    def _connection_details(self, obj: Object) -> dict[str, bytes]:
        namespace, name = secret_place(obj)
        if not name:
            return {}
        secrets = self._cluster.select(ResourceSelector("v1", "Secret", name, None, namespace))
        try:
            return decode_data(secrets[0].object) if secrets else {}
        except CrossplyError as problem:
            message = (
                f'cannot compose resources: cannot get connection details from Secret "{name}": {problem}'
            )
            raise ObservedError(message, hint=problem.hint) from None

    def _record(self, effect: RecordEvents) -> None:
        self.events += effect.events
        for group in effect.progress:
            self.events += group

    def _write(self, xr: Object) -> Object:
        self._live = xr
        return xr

    def _diagnose(self, effect: Diagnose) -> Diagnosis:
        problem, hint = effect.problem, self._reads.version_hint()
        if isinstance(problem, StepFailed) and hint:
            problem = problem.replace(hint=hint)
        return Diagnosis(problem, self._live)

    def _composed(self, outcome: Outcome) -> Rendered:
        return Rendered(
            composite=self._written(outcome),
            composed=tuple([resource.object for resource in outcome.composed]),
            deleted=tuple([deletion.snapshot.object for deletion in outcome.deletions]),
            events=tuple(self.events),
            context=outcome.context,
            required_resources=tuple(self._reads.required_resources),
            required_schemas=tuple(self._reads.required_schemas),
            unready=tuple([resource.name for resource in outcome.composed if not resource.ready]),
        )

    def _rendered(self) -> Rendered:
        return Rendered(
            composite=self._live,
            composed=(),
            deleted=(),
            events=tuple(self.events),
            context=None,
            required_resources=tuple(self._reads.required_resources),
            required_schemas=tuple(self._reads.required_schemas),
        )

    def _written(self, outcome: Outcome) -> Object:
        """What the engine writes of a composite resource: identity, references, status."""
        xr, metadata = self._live, metadata_of(self._live)
        return {
            "apiVersion": text_in(xr, "apiVersion"),
            "kind": text_in(xr, "kind"),
            "metadata": {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)},
            "spec": self._machinery.holding(self._machinery.references, outcome.references),
            "status": xr["status"],
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


def _is_new_request(request: AcceptRequest) -> bool:
    status = request.xr.get("status")
    handled = status.get("lastHandledReconcileAt") if isinstance(status, dict) else None
    return bool(handled != request.token)


def _do_nothing(_: Any) -> None:
    return None


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
        listed = ", ".join(dict.fromkeys(problems))
        raise RenderInputError(
            "invalid observed resources: " + (f"[{listed}]" if ", " in listed else listed),
            hint=_ownership_hint(owners) if owners else _OBSERVED,
        )


_OBSERVED = "observed resources are what the composite resource owns, in its own namespace"


def _ownership_hint(owners: set[str]) -> str:
    uid = f" ({owners.pop()})" if len(owners) == 1 else ""
    return (
        f"{_OBSERVED}: set metadata.uid of the composite resource to the uid in their ownerReferences{uid}, "
        "or remove ownerReferences from the observed resources"
    )
