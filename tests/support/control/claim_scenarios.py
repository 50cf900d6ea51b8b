"""Worlds with a claim, generated and brought to rest: by the controllers, and by the rounds of a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import orjson
from hypothesis import strategies as st

from crossply.compose.in_memory_reconcile import NOW
from crossply.control.claims.claim_kind_controller import ClaimKind
from crossply.control.claims.sync import FINALIZER
from crossply.control.composites.composite_kind_controller import CompositeKind
from crossply.control.composites.composition_selection import Compositions
from crossply.control.kinds import COMPOSITION, REVISION
from crossply.control.planning.api_urls import key_of
from crossply.control.planning.governed_kinds import GovernedKinds
from crossply.control.planning.reconcile_rounds import ReconcileRounds
from crossply.errors import CrossplyError
from crossply.kinds.definition import parse_definition
from crossply.kube.failures import Conflict
from crossply.kube.kind import Kind
from crossply.kube.shared_informers import SharedInformers
from crossply.values import Object
from tests.support.control.controller_reconcile import plane_of
from tests.support.control.planned_reconcile import planned_client
from tests.support.control.reconcile_scenarios import (
    CLAIM,
    FOREIGN_FINALIZER,
    Calls,
    Scenario,
    claim,
    claimed_scenarios,
    composite_kind,
    objects_of,
    xrd,
)
from tests.support.in_memory_api import InMemoryApi, InMemoryInformers, Recorded

BOUND, FREE, TAKEN, CONTROLLED = "bound", "free", "taken", "controlled"
NAMED, NEW = "named", "new"
MOST_ROUNDS = 12
"""A claim and its composite resource come to rest in half as many."""


class LostWrite(Conflict):
    """A write that loses to another one, which nobody makes."""


class BusyApi(InMemoryApi):
    """The first write of the status of each of these kinds conflicts, as when a user edits the object."""

    def __init__(self, objects: Iterable[Object], kinds: Iterable[str]) -> None:
        super().__init__(objects)
        self._edited = set(kinds)

    async def apply(self, kind: Kind, body: Object, manager: str, subresource: str = "") -> Object:
        self._lose(kind, subresource)
        return await super().apply(kind, body, manager, subresource)

    async def update(self, kind: Kind, body: Object, manager: str = "", subresource: str = "") -> Object:
        self._lose(kind, subresource)
        return await super().update(kind, body, manager, subresource)

    def _lose(self, kind: Kind, subresource: str) -> None:
        if subresource and kind.kind in self._edited:
            self._edited.remove(kind.kind)
            self.writes += 1
            raise LostWrite(f"{kind.kind} has been modified")


@dataclass(frozen=True)
class ClaimWorld:
    """A claim, and what there is of its composite resource."""

    scenario: Scenario
    binding: str
    """BOUND, FREE, TAKEN by another claim or CONTROLLED by something else; it does not exist where it is only
    NAMED by the claim, or the claim is NEW."""
    size: int
    labels: bool
    external_names: str
    """Who has one: the claim, its composite resource, or both."""
    policy: str
    has_secret: bool
    finalizers: frozenset[str] | None
    """What keeps the claim, which is being deleted; None where it is not."""
    delete_policy: str
    is_paused: bool
    is_held: bool
    """Whether a finalizer of somebody else's keeps the composite resource."""


_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "scenario": claimed_scenarios,
    "binding": st.sampled_from([BOUND, BOUND, BOUND, FREE, TAKEN, CONTROLLED, NAMED, NEW]),
    "size": st.integers(0, 3),
    "labels": st.booleans(),
    "external_names": st.sampled_from(["", "claim", "composite", "claim composite"]),
    "policy": st.sampled_from(["", "Automatic", "Manual"]),
    "has_secret": st.booleans(),
    "finalizers": st.none(),
    "delete_policy": st.sampled_from(["", "Background", "Foreground"]),
    "is_paused": st.sampled_from([False, False, False, False, True]),
    "is_held": st.booleans(),
}
claim_worlds = st.builds(ClaimWorld, **_FIELDS)
deleted_claim_worlds = st.builds(
    ClaimWorld,
    **_FIELDS | {"finalizers": st.frozensets(st.sampled_from([FINALIZER, FOREIGN_FINALIZER]), min_size=1)},
)


class AtRest(NamedTuple):
    """A world in which nothing changes any more."""

    objects: dict[str, Object]
    """What there is, by kind and name, without versions."""
    requests: list[bytes]
    messages: dict[str, set[str]]
    """What was recorded about the claim and the composite resource."""
    problems: set[str]


def claim_of(world: ClaimWorld) -> Object:
    """The claim as a user left it."""
    obj: Object = orjson.loads(orjson.dumps(claim(world.scenario)))
    metadata, spec = obj["metadata"], obj["spec"]
    spec["size"] = world.size
    if world.binding == NEW:
        del spec["resourceRef"], spec["compositionRef"], metadata["finalizers"]
    if world.labels:
        metadata["labels"] = {"team": "a", "app.kubernetes.io/name": "b"}
    metadata["annotations"] = {"note": "n", **_external_name(world, "claim")}
    if world.is_paused:
        metadata["annotations"]["crossplane.io/paused"] = "true"
    if world.policy:
        spec["compositionUpdatePolicy"] = world.policy
    if world.delete_policy:
        spec["compositeDeletePolicy"] = world.delete_policy
    if world.has_secret:
        spec["writeConnectionSecretToRef"] = {"name": "mine-details"}
    if world.finalizers is not None:
        metadata |= {"deletionTimestamp": NOW, "finalizers": sorted(world.finalizers)}
    return obj


def _external_name(world: ClaimWorld, whose: str) -> Object:
    return {"crossplane.io/external-name": f"of-{whose}"} if whose in world.external_names.split() else {}


def objects_in(world: ClaimWorld) -> list[Object]:
    """All that the API server has."""
    scenario = world.scenario
    if world.binding in (NAMED, NEW):
        scenario = replace(scenario, existing=frozenset())
    objects = [obj for obj in objects_of(scenario) if obj["kind"] not in ("XBucket", "Bucket")]
    xrs = [obj for obj in objects_of(scenario) if obj["kind"] == "XBucket"]
    if world.binding in (NAMED, NEW):
        xrs = []
    return [*objects, claim_of(world), *(_composite(world, xr) for xr in xrs), xrd(scenario)]


def _composite(world: ClaimWorld, xr: Object) -> Object:
    xr = orjson.loads(orjson.dumps(xr))
    metadata, spec = xr["metadata"], xr["spec"]
    metadata["annotations"] = _external_name(world, "composite")
    if world.is_held:
        metadata["finalizers"] = [*metadata["finalizers"], FOREIGN_FINALIZER]
    if world.policy:
        spec["compositionUpdatePolicy"] = world.policy
    if world.has_secret:
        spec["writeConnectionSecretToRef"] = {"name": "xr-details", "namespace": "default"}
    if world.binding in (FREE, CONTROLLED):
        del spec["claimRef"]
        metadata["labels"] = {"crossplane.io/composite": "xr"}
    if world.binding == TAKEN:
        spec["claimRef"]["name"] = metadata["labels"]["crossplane.io/claim-name"] = "another"
    if world.binding == CONTROLLED:
        parent = {"apiVersion": "example.org/v1", "kind": "XParent", "name": "p", "uid": "uid-of-parent"}
        metadata["ownerReferences"] = [{**parent, "controller": True}]
    return xr


async def by_controllers(world: ClaimWorld, api: InMemoryApi | None = None) -> AtRest:
    """Reconcile the claim and its composite resource in turn."""
    api = api or InMemoryApi(objects_in(world))
    calls, recorded = Calls(world.scenario), Recorded()
    definition, kind = parse_definition(xrd(world.scenario)), composite_kind(world.scenario)
    informers = InMemoryInformers(api)
    plane = plane_of(kind, api, informers, recorded, calls)
    compositions = Compositions(informers.acquire(COMPOSITION), informers.acquire(REVISION))
    kinds = (ClaimKind(plane, definition), CompositeKind(plane, definition, compositions))
    for _ in range(MOST_ROUNDS):
        before, problems = api.writes, set()
        for reconciler in kinds:
            for obj in [obj for obj in api.objects.values() if obj["kind"] == reconciler.kind.kind]:
                try:
                    await reconciler.reconcile(obj)
                except CrossplyError as problem:
                    problems.add(str(problem))
                except LostWrite:
                    pass  # as after any conflict, it is reconciled again
        if api.writes == before:
            return _at_rest(api.objects.values(), calls, recorded, problems)
    raise AssertionError("it does not come to rest")


async def by_rounds(world: ClaimWorld) -> AtRest:
    """Have a plan reconcile the claim, and all whom that wakes."""
    api, calls, recorded = InMemoryApi(objects_in(world)), Calls(world.scenario), Recorded()
    kind = composite_kind(world.scenario)
    client, _ = planned_client(api, kind)
    async with SharedInformers(client) as informers:
        plane = plane_of(kind, client, informers, recorded, calls)
        compositions = Compositions(informers.acquire(COMPOSITION), informers.acquire(REVISION))
        governed = GovernedKinds(plane, compositions)
        await governed.load()
        await asyncio.gather(*(informer.synced.wait() for informer in informers.running()))
        rounds = ReconcileRounds(plane, client.store, governed, lambda *_: None)
        await rounds.settle([key_of(CLAIM, "mine", "default")])
        await rounds.settle([key_of(kind, "xr")])
        assert not rounds.unstable
    objects = dict(api.objects)
    for known in filter(None, map(client.store.known, client.store.written())):
        obj = known.before if known.now is None else known.now
        assert obj is not None
        key = (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        objects.pop(key, None)
        if known.now is not None:
            objects[key] = known.now
    problems = {str(problem) for problem in rounds.problems.values()}
    return _at_rest(objects.values(), calls, recorded, problems)


def _at_rest(objects: Iterable[Object], calls: Calls, recorded: Recorded, problems: set[str]) -> AtRest:
    return AtRest(
        {f"{obj['kind']}/{obj['metadata']['name']}": _lasting(obj) for obj in objects},
        calls.sent,
        {kind: recorded.messages(kind) for kind in ("Bucket", "XBucket")},
        set(problems),
    )


def _lasting(obj: Object) -> Object:
    metadata = {k: v for k, v in obj["metadata"].items() if k != "resourceVersion"}
    return {**obj, "metadata": metadata}
