"""Runtimes of one kind of package: what each active revision needs to run, and whether it does.

Functions that run without a package of their own can be called as soon as they are known.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from crossply.compose.conditions import read_conditions, with_conditions
from crossply.compose.events import NORMAL, WARNING, Event, StatusCondition
from crossply.compose.object_metadata import is_being_deleted, is_paused, name_of
from crossply.control.calls.function_revision_runtime import RUNTIME_HEALTHY, as_function, is_local
from crossply.control.controller_context import Plane
from crossply.control.managed_definitions.safe_start import (
    AWAITS,
    RUNS,
    awaits_activation,
    definition_states,
    has_safe_start,
)
from crossply.control.package_manager.package_health import REVISION_HEALTHY
from crossply.control.runtimes.runtime import NotRunning, Prepared, Runtime, ScalesToZero
from crossply.errors import CrossplyError
from crossply.functions import builtin
from crossply.functions.binding import BUILTIN, ON_THIS_MACHINE, choose_runtime, remote_target
from crossply.functions.host_access_policy import Check, HostAccessRefused
from crossply.functions.local_provider_annotations import is_local_provider
from crossply.kube.controller import Requeue
from crossply.kube.informer import Informer
from crossply.values import Object

HEALTHY = StatusCondition(RUNTIME_HEALTHY, "True", "HealthyPackageRevision")
UNHEALTHY = StatusCondition(RUNTIME_HEALTHY, "False", "UnhealthyPackageRevision")
_NOT_YET = UNHEALTHY._replace(message="Package revision is not healthy yet")
_SYNC = "SyncPackage"
_DAY = 86_400.0
_PRE, _POST = (f"{phase} establish runtime hook failed for package" for phase in ("pre", "post"))


class _Outcome(NamedTuple):
    """The condition of a revision, and why it does not run."""

    condition: StatusCondition
    problem: CrossplyError | None = None
    prepared: Prepared = Prepared({})
    activity: StatusCondition | None = None
    """Whether a safe-start Provider runs; None for all others."""


class RuntimeReconciler:
    """Keeps what runs in line with the revisions of one kind."""

    def __init__(
        self,
        plane: Plane,
        revisions: Informer,
        runtime: Runtime | None,
        local: Runtime | None = None,
        definitions: Informer | None = None,
    ) -> None:
        """Without a runtime, something else runs the packages and reports their health.

        `local` runs the packages whose annotations say how they run on this machine. `definitions` are those
        of Providers.
        """
        self._definitions = definitions
        self._plane = plane
        self._revisions = revisions
        self._runtime = runtime
        self._local = local or _LocalRuntime(plane.functions.factory.check_host_access)

    async def reconcile(self, name: str) -> Requeue | None:
        """Bring one revision in line."""
        data = self._revisions.get("", name)
        revision: Object = {} if data is None else orjson.loads(data)
        is_local_revision = is_local(revision) or is_local_provider(revision)
        runtime = self._local if is_local_revision else self._runtime
        if runtime is None or not revision or _is_left_alone(revision):
            return None
        if revision["spec"].get("desiredState") != "Active":
            await runtime.stop(revision)
            return None
        outcome = await self._judge(runtime, revision)
        await self._report(revision, outcome)
        if outcome.problem is not None and not isinstance(outcome.problem, NotRunning):
            raise outcome.problem
        renewal = outcome.prepared.renew_at
        if renewal is None:
            return None
        return Requeue(min(max((renewal - datetime.now(UTC)).total_seconds(), 1.0), _DAY))

    async def _judge(self, runtime: Runtime, revision: Object) -> _Outcome:
        """Prepare and run a revision; returns its condition."""
        prepared = Prepared({})
        try:
            prepared = await runtime.prepare(revision)
        except CrossplyError as problem:
            return _failed(problem.within(_PRE), prepared)
        if not is_local(revision) and not _is_healthy(revision, REVISION_HEALTHY):
            return _Outcome(_NOT_YET, prepared=prepared)
        activity = self._activity(revision)
        try:
            await _run(runtime, revision, prepared, activity)
        except CrossplyError as problem:
            return _failed(problem.within(_POST), prepared)
        return _Outcome(HEALTHY, prepared=prepared, activity=activity)

    def _activity(self, revision: Object) -> StatusCondition | None:
        """Whether a Provider that starts safely has something to do."""
        capabilities = (revision.get("status") or {}).get("capabilities") or ()
        if self._definitions is None or not has_safe_start(capabilities):
            return None
        states = definition_states(self._definitions, revision)
        return AWAITS if awaits_activation(revision, states) else RUNS

    async def _report(self, revision: Object, outcome: _Outcome) -> None:
        """Events, and the status where it changes."""
        if outcome.problem is not None:
            self._plane.recorder.record(revision, Event(WARNING, _SYNC, str(outcome.problem)))
        elif outcome.condition is HEALTHY and not _is_healthy(revision, RUNTIME_HEALTHY):
            event = Event(NORMAL, _SYNC, "Successfully configured package revision")
            self._plane.recorder.record(revision, event)
        status = {**(revision.get("status") or {}), **outcome.prepared.status}
        conditions = (outcome.condition, *filter(None, (outcome.activity,)))
        desired = with_conditions({**revision, "status": status}, conditions, self._plane.now())
        if desired["status"] != revision.get("status"):
            self._revisions.record_write(
                await self._plane.as_installer.update_status(self._revisions.kind, desired)
            )


async def _run(
    runtime: Runtime, revision: Object, prepared: Prepared, activity: StatusCondition | None
) -> None:
    if activity is not AWAITS:
        await runtime.run(revision, prepared)
    elif isinstance(runtime, ScalesToZero):
        await runtime.scale_to_zero(revision, prepared)
    else:
        await runtime.stop(revision)


def _failed(problem: CrossplyError, prepared: Prepared) -> _Outcome:
    return _Outcome(UNHEALTHY._replace(message=str(problem)), problem, prepared)


def _is_left_alone(revision: Object) -> bool:
    return is_paused(revision) or is_being_deleted(revision)


def _is_healthy(revision: Object, condition: str) -> bool:
    conditions = read_conditions(revision.get("status"))
    return any(known["type"] == condition and known["status"] == "True" for known in conditions)


class _LocalRuntime:
    """Built-in functions, local processes, and functions at a configured address."""

    def __init__(self, check_host_access: Check) -> None:
        self._check_host_access = check_host_access

    async def prepare(self, revision: Object) -> Prepared:
        """The endpoint of the function; raises if it uses parts of this machine that it may not."""
        try:
            self._check_host_access(as_function(revision))
        except HostAccessRefused as refusal:
            raise NotRunning(str(refusal), hint=refusal.hint) from None
        return Prepared({"endpoint": _local_endpoint(revision)})

    async def run(self, revision: Object, prepared: Prepared) -> None:
        """It runs, or is started by the first call."""

    async def stop(self, revision: Object) -> None:
        """Nothing was started."""


def _local_endpoint(revision: Object) -> str:
    """The endpoint of a revision that needs no package."""
    function = as_function(revision)
    runtime = choose_runtime(function)
    if runtime == BUILTIN:
        return f"builtin:///{builtin.sharing_name(function['spec']['package']) or ''}"
    if runtime in ON_THIS_MACHINE:
        return f"{runtime}:///{name_of(revision)}"
    return remote_target(function)
