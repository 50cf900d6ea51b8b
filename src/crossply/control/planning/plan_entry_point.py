"""One plan: connect, run the controllers, compare, and close everything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.compose.object_metadata import uid_of
from crossply.control.controller_context import plane_for
from crossply.control.kinds import DEFINITION
from crossply.control.planning.change_tree import Node
from crossply.control.planning.dry_run_client import DryRunClient
from crossply.control.planning.dry_run_planner import Plan, Planner, PlanRefused
from crossply.control.planning.field_changes import Field, Unknown
from crossply.control.planning.planned_functions import (
    RecordedFunctions,
    host_access_check,
    planned_functions,
)
from crossply.control.planning.reconcile_rounds import Progress
from crossply.functions.host_access_policy import HostAccess
from crossply.kube.config import ClusterConfig
from crossply.kube.failures import NotServed
from crossply.provenance.field_reports import resolve_items
from crossply.provenance.model import COMPOSITE_STATUS, Provenance
from crossply.values import Object


class PlanRequest(NamedTuple):
    """The options of a plan."""

    objects: tuple[Object, ...]
    deletes: bool = False
    manager: str = ""
    """The field manager that applies; kubectl's where it is empty."""
    namespace: str = "default"
    host_access: HostAccess = HostAccess()
    """What the Functions that the control plane has may use of this machine."""
    explains: bool = False
    """Whether the plan says where the new values of fields come from."""


class PlanResult(NamedTuple):
    """The plan, and the words for what cannot be known before it happens."""

    plan: Plan
    unknown: Unknown


async def make_plan(config: ClusterConfig, request: PlanRequest, progress: Progress) -> PlanResult:
    """What would change in a cluster."""
    async with DryRunClient(config) as client:
        functions = planned_functions(host_access_check(request.objects, request.host_access))
        plane = plane_for(client, functions)
        try:
            await _check_control_plane(client)
            planner = Planner(client, plane, request.manager, request.namespace, progress)
            plan = await _planned(planner, request.objects, request.deletes)
            if request.explains:
                _add_sources(plan.nodes(), functions)
            unknown = planner.forest.unknown
            for obj in (*client.store.looked_at.values(), *(node.obj for node in plan.nodes())):
                unknown.note_secret(obj)
            return PlanResult(plan, unknown)
        finally:
            await plane.recorder.settle()
            await plane.informers.close()
            plane.functions.close()


async def _planned(planner: Planner, objects: Iterable[Object], deletes: bool) -> Plan:
    return await (planner.deleting(objects) if deletes else planner.applying(objects))


async def _check_control_plane(client: DryRunClient) -> None:
    try:
        await client.list(DEFINITION, limit=1)
    except NotServed:
        raise PlanRefused(
            f"there is no control plane at {client.config.server}: it has no CompositeResourceDefinitions",
            hint="start one with: crossply up, or for this cluster with: crossply controller",
        ) from None


def _add_sources(nodes: Iterable[Node], functions: RecordedFunctions) -> None:
    """Add the source of each field that the pipeline of an XR sets."""
    for node in nodes:
        provenance = functions.provenance_of(uid_of(node.obj)) if node.is_composite else None
        if provenance is not None:
            node.fields = _explained(node, COMPOSITE_STATUS, provenance)
            for child in node.children:
                if child.resource:
                    child.fields = _explained(child, child.resource, provenance)


def _explained(node: Node, resource: str, provenance: Provenance) -> tuple[Field, ...]:
    return tuple(
        field._replace(source=provenance.of(resource, resolve_items(field.path, node.obj)))
        for field in node.fields
    )
