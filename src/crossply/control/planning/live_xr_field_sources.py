"""Reconciling one XR in memory, as it is now, to find out where its fields come from."""

from __future__ import annotations

import asyncio

from crossply.compose.object_metadata import uid_of
from crossply.control.composites.composition_selection import Compositions
from crossply.control.controller_context import plane_for
from crossply.control.kinds import COMPOSITION, REVISION
from crossply.control.planning.api_urls import key_of
from crossply.control.planning.dry_run_client import DryRunClient
from crossply.control.planning.governed_kinds import GovernedKinds
from crossply.control.planning.planned_functions import (
    host_access_check,
    planned_functions,
    put_planned_revisions,
)
from crossply.control.planning.reconcile_rounds import ReconcileRounds
from crossply.functions.host_access_policy import HostAccess
from crossply.kube.config import ClusterConfig
from crossply.kube.kind import Kind
from crossply.provenance.model import Provenance
from crossply.values import Object


async def explain_now(config: ClusterConfig, kind: Kind, xr: Object, access: HostAccess) -> Provenance | None:
    """Where the fields of an XR's resources would come from now; None where its pipeline does not run.

    Every write is a dry run. Functions are called as `crossply plan` calls them.
    """
    metadata = xr["metadata"]
    key = key_of(kind, metadata["name"], metadata.get("namespace", ""))
    async with DryRunClient(config) as client:
        functions = planned_functions(host_access_check((), access))
        plane = plane_for(client, functions)
        try:
            compositions = plane.informers.acquire(COMPOSITION)
            revisions = plane.informers.acquire(REVISION)
            kinds = GovernedKinds(plane, Compositions(compositions, revisions))
            rounds = ReconcileRounds(plane, client.store, kinds, lambda done, total: None)
            await rounds.guarded(asyncio.gather(compositions.synced.wait(), revisions.synced.wait()))
            await put_planned_revisions(client, functions)
            await kinds.load()
            if kinds.at(key) is None:
                return None
            await rounds.settle([key])
            if (problem := rounds.problems.get(key)) is not None:
                raise problem
            return functions.provenance_of(uid_of(xr))
        finally:
            await plane.recorder.settle()
            await plane.informers.close()
            functions.close()
