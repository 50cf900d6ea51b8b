"""CronOperations: an Operation whenever their schedule says so."""

from __future__ import annotations

from datetime import datetime

from crossply.compose.conditions import RECONCILE_PAUSED, SYNCED, failed
from crossply.compose.events import StatusCondition
from crossply.compose.object_metadata import is_paused
from crossply.control.controller_context import Plane
from crossply.control.kinds import CRON_OPERATION
from crossply.control.operations.operation_parents import GARBAGE_COLLECT, REPLACE_RUNNING, OperationParents
from crossply.kinds.cron_operation import LABEL
from crossply.kinds.cron_operation_schedule import Decision, decide
from crossply.kube.controller import Requeue
from crossply.values import Object

ACTIVE = StatusCondition("Scheduling", "True", "ScheduleActive")
INVALID = StatusCondition("Scheduling", "False", "ScheduleInvalid")
SCHEDULE_PAUSED = StatusCondition("Scheduling", "False", "SchedulePaused")
INVALID_SCHEDULE = "InvalidSchedule"
_SHOWN = ("lastScheduleTime", "lastSuccessfulTime", "runningOperationRefs")
_LONGEST = 3600.0
"""The longest time in seconds until a schedule is checked again: clocks may be adjusted."""


class CronOperationReconciler:
    """Makes the Operations of CronOperations."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.parents = OperationParents(plane, CRON_OPERATION, LABEL)

    async def reconcile(self, name: str) -> Requeue | None:
        """Do what a CronOperation does now; requeues it for when it does something again."""
        cron = self.parents.get(name)
        if cron is None:
            return None
        if is_paused(cron):
            await self.parents.write(cron, (SCHEDULE_PAUSED, RECONCILE_PAUSED))
            return None
        decision = decide(cron, self.parents.children(name), datetime.fromisoformat(self._plane.now()))
        cron = _showing(cron, decision.status)
        await self.parents.delete(cron, decision.garbage, GARBAGE_COLLECT)
        if decision.problem is not None:
            problem = str(decision.problem)
            self.parents.record_warning(cron, INVALID_SCHEDULE, problem)
            await self.parents.write(cron, (INVALID._replace(message=problem), failed(problem)))
            return None
        await self._create(cron, decision)
        await self.parents.write(cron, (ACTIVE, SYNCED))
        return None if decision.requeue_after is None else Requeue(min(decision.requeue_after, _LONGEST))

    async def _create(self, cron: Object, decision: Decision) -> None:
        if decision.create is not None:
            await self.parents.delete(cron, decision.replaced, REPLACE_RUNNING)
            await self.parents.create(cron, decision.create)


def _showing(cron: Object, shown: Object) -> Object:
    status = {key: value for key, value in (cron.get("status") or {}).items() if key not in _SHOWN}
    return {**cron, "status": {**status, **shown}}
