"""Plays a scenario of a reconcile as `plan` does: on a dry run of an API server that keeps what it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from crossply.control.composites.composition_selection import Compositions
from crossply.control.kinds import COMPOSITION, DEFINITION, REVISION
from crossply.control.planning.api_urls import ObjectPath, key_of, parse_path
from crossply.control.planning.dry_run_client import DryRunClient, DryRunTransport
from crossply.control.planning.governed_kinds import Governed, GovernedKinds
from crossply.control.planning.node_notes import blocking_reason
from crossply.control.planning.reconcile_rounds import ReconcileRounds
from crossply.errors import CrossplyError
from crossply.kube.config import ClusterConfig
from crossply.kube.core_kinds import SECRET
from crossply.kube.failures import NotFound, NotServed
from crossply.kube.kind import Kind
from crossply.kube.request_types import APPLY_PATCH, JSON_PATCH, Reply, Request
from crossply.kube.transport import Transport
from crossply.values import Object
from tests.support.control.controller_reconcile import Done, plane_of
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
from tests.support.in_memory_api import InMemoryApi, InMemoryInformers, Recorded

CONFIG = ClusterConfig("http://in-memory.invalid")


class UnchangedServer(Transport):
    """Answers reads from an API server in memory. Writes must be dry runs, and are tried on a copy of it."""

    api: InMemoryApi
    kinds: dict[str, Kind]
    applied: list[Object]
    deleted: list[str]

    async def send(self, request: Request) -> Reply:
        address = parse_path(request.path)
        assert address is not None
        kind = self.kinds.get(address.plural)
        if kind is None:
            raise NotServed(f"{address.plural} are not served", status=404)
        if request.method == "GET":
            return Reply(200, orjson.dumps(await self._from_memory(kind, address, request.query)))
        assert request.query.get("dryRun") == "All" or _is_dry_run_deletion(request), request
        return Reply(200, orjson.dumps(await self._dry_run(kind, address, request)))

    async def _from_memory(self, kind: Kind, address: ObjectPath, query: Mapping[str, str]) -> Object:
        if not address.name:
            listed = await self.api.list(kind, address.namespace, query.get("labelSelector", ""))
            items = [orjson.loads(item) for item in listed.items]
            return {"kind": f"{kind.kind}List", "metadata": {"resourceVersion": "1"}, "items": items}
        obj = await self.api.get(kind, address.name, address.namespace)
        if obj is None:
            raise NotFound(f'{address.plural} "{address.name}" not found', status=404)
        return obj

    async def _dry_run(self, kind: Kind, address: ObjectPath, request: Request) -> Object:
        body: Any = orjson.loads(request.body or b"{}")
        copy = InMemoryApi(self.api.objects.values())
        if request.method == "DELETE":
            self.deleted.append(f"{kind.kind}/{address.name}")
        elif request.method == "POST":
            body = await copy.create(kind, body, request.query.get("fieldManager", ""))
        elif request.content_type == APPLY_PATCH:
            body = await copy.apply(kind, body, request.query["fieldManager"], address.subresource)
        elif request.content_type == JSON_PATCH:
            body = await copy.patch_json(kind, address.name, body, address.namespace)
        self.applied += copy.applied
        result: Object = body
        return result


class PlannedTransport(DryRunTransport, UnchangedServer):
    """The transport of a plan, with that server at its end."""

    def __init__(self, api: InMemoryApi, kinds: Iterable[Kind]) -> None:
        super().__init__(CONFIG)
        self.api, self.kinds = api, {kind.plural: kind for kind in kinds}
        self.applied, self.deleted = [], []


def _is_dry_run_deletion(request: Request) -> bool:
    return request.method == "DELETE" and orjson.loads(request.body or b"{}").get("dryRun") == ["All"]


def planned_client(api: InMemoryApi, composite: Kind) -> tuple[DryRunClient, PlannedTransport]:
    """The client of a plan of what an API server has, and its transport, which knows what was tried."""
    kinds = (CONFIG_MAP, GADGET, CLAIM, SECRET, composite, COMPOSITION, REVISION, DEFINITION)
    client, transport = DryRunClient(CONFIG), PlannedTransport(api, kinds)
    client._transport, client.store = transport, transport.store
    return client, transport


class PlannedWorld:
    """A dry run of what an API server has, with the kinds that it governs."""

    def __init__(self, scenario: Scenario, calls: Calls) -> None:
        self.kind = composite_kind(scenario)
        api = InMemoryApi([*objects_of(scenario), xrd(scenario)])
        client, self.transport = planned_client(api, self.kind)
        self.store = client.store
        self.recorded = Recorded()
        informers = InMemoryInformers(api)
        self.plane = plane_of(self.kind, client, informers, self.recorded, calls)
        compositions = Compositions(informers.acquire(COMPOSITION), informers.acquire(REVISION))
        self.governed = GovernedKinds(self.plane, compositions)

    async def composites(self) -> Governed:
        """The kind of the composite resource, once all kinds are known."""
        await self.governed.load()
        governed = self.governed.composite(self.kind.api_version, self.kind.kind)
        assert governed is not None
        return governed


async def run_plan(scenario: Scenario) -> Done:
    """Reconcile once, with the reconciler and the client of a plan."""
    calls = Calls(scenario)
    world = PlannedWorld(scenario, calls)
    governed, problem = await world.composites(), ""
    try:
        await world.governed.reconcile(governed, composite(scenario))
    except CrossplyError as failure:
        problem = str(failure)
    known = world.store.known(key_of(world.kind, "xr", "default"))
    assert known is not None
    assert known.now is not None
    references = scenario.machinery.read(known.now, "resourceRefs")
    return Done(
        calls.sent,
        world.transport.applied,
        world.transport.deleted,
        references,
        known.now["status"],
        world.recorded.messages("XBucket"),
        problem,
        world.recorded.messages("Bucket"),
    )


async def plan_rounds(scenario: Scenario) -> str:
    """Have a plan reconcile the composite resource until nothing changes; why that changes nothing at all."""
    calls = Calls(scenario)
    world = PlannedWorld(scenario, calls)
    governed = await world.composites()
    rounds = ReconcileRounds(world.plane, world.store, world.governed, lambda *_: None)
    await rounds.settle([key_of(world.kind, "xr", "default")])
    assert (calls.sent, world.store.history(), world.transport.applied) == ([], [], [])
    assert not rounds.problems
    return blocking_reason(governed, composite(scenario))
