"""One reconcile of a scenario by the controller, on an API server in memory."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.in_memory_reconcile import NOW
from crossply.control.composite_dependency_watches import Dependencies
from crossply.control.composites.circuit_breaker import CircuitBreaker
from crossply.control.composites.composed_store import ComposedStore
from crossply.control.composites.composition_selection import Compositions
from crossply.control.composites.reconciler import CompositeReconciler
from crossply.control.controller_context import Plane
from crossply.control.kinds import COMPOSITION, REVISION
from crossply.errors import CrossplyError
from crossply.kinds.definition import parse_definition
from crossply.kube.core_kinds import SECRET
from crossply.kube.kind import Kind
from crossply.kube.shared_informers import SharedInformers
from crossply.runs.recorder import RunRecorder
from crossply.values import Object
from tests.support.control.reconcile_scenarios import (
    CLAIM,
    CONFIG_MAP,
    GADGET,
    Calls,
    Scenario,
    composite,
    composite_kind,
    objects_of,
    xrd,
)
from tests.support.in_memory_api import (
    Functions,
    InMemoryApi,
    InMemoryInformers,
    Kinds,
    Recorded,
)


class Done(NamedTuple):
    """What came of one reconcile."""

    requests: list[bytes]
    applied: list[Object]
    deleted: list[str]
    references: Any
    status: Object | None
    messages: set[str]
    problem: str
    claim_messages: set[str]


async def run_controller(
    scenario: Scenario, runs: RunRecorder | None = None, api: InMemoryApi | None = None
) -> Done:
    calls, recorded = Calls(scenario), Recorded()
    kind = composite_kind(scenario)
    api = api or InMemoryApi(objects_of(scenario))
    informers = InMemoryInformers(api)
    plane: Any = plane_of(kind, api, informers, recorded, calls, runs)
    reconciler = CompositeReconciler(
        plane,
        parse_definition(xrd(scenario)),
        kind,
        scenario.machinery,
        Compositions(informers.acquire(COMPOSITION), informers.acquire(REVISION)),
        ComposedStore(plane, kind, lambda *_: None),
        informers.acquire(kind),
        CircuitBreaker(),
        lambda *_: None,
    )
    problem = ""
    try:
        await reconciler.reconcile(composite(scenario))
    except CrossplyError as failure:
        problem = str(failure)
    xr = next(obj for obj in (api.objects | api.gone).values() if obj["kind"] == "XBucket")
    saved = api.saved[-1] if api.saved else {}
    references = (saved if scenario.is_legacy else saved.get("crossplane") or {}).get("resourceRefs")
    return Done(
        calls.sent,
        api.applied,
        api.deleted,
        references,
        xr.get("status"),
        recorded.messages("XBucket"),
        problem,
        recorded.messages("Bucket"),
    )


def plane_of(
    kind: Kind,
    client: Any,
    informers: InMemoryInformers | SharedInformers,
    recorded: Recorded,
    calls: Calls,
    runs: RunRecorder | None = None,
) -> Plane:
    """What the controllers of a kind of composite resource share, with one client for everything."""
    return Plane(
        client,
        client,
        client,
        Kinds(CONFIG_MAP, GADGET, CLAIM, SECRET, kind),  # type: ignore[arg-type]
        informers,  # type: ignore[arg-type]
        recorded,  # type: ignore[arg-type]
        Dependencies(informers),  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        functions=Functions(calls),  # type: ignore[arg-type]
        now=lambda: NOW,
        runs=runs,
    )
