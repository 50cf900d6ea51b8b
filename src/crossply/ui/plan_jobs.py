"""Plans that run in the background of the dashboard: one at a time for each viewer, bounded in time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from weakref import WeakKeyDictionary

from crossply.compose.object_metadata import name_of
from crossply.control.planning.plan_entry_point import PlanRequest, PlanResult, make_plan
from crossply.errors import CrossplyError
from crossply.kube.config import ClusterConfig
from crossply.ui.viewer_connection import Viewer
from crossply.values import Object

SECONDS = 120.0
_MOST_JOBS = 5


class PlanJob:
    """One plan: how far it is, and what came out of it."""

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self.result: PlanResult | None = None
        self.problem: CrossplyError | None = None
        self.is_running = True

    def progress(self, done: int, total: int) -> None:
        """Note how many composite resources are reconciled."""
        self.done, self.total = done, total


class PlanJobs:
    """The plans of one viewer."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, PlanJob] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(1)

    def start(
        self, config: ClusterConfig, composition: Object, revision: Object, *, is_new_request: bool = False
    ) -> PlanJob:
        """The plan of a revision: the one that was made already, unless it is to be made again."""
        key = f"{name_of(composition)}/{name_of(revision)}"
        job = self._jobs.get(key)
        if job is not None and (job.is_running or not is_new_request):
            return job
        job = self._jobs[key] = PlanJob()
        self._jobs.move_to_end(key)
        while len(self._jobs) > _MOST_JOBS:
            self._jobs.popitem(last=False)
        task = asyncio.create_task(self._run(job, config, applied_revision(composition, revision)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    async def _run(self, job: PlanJob, config: ClusterConfig, composition: Object) -> None:
        try:
            async with self._room, asyncio.timeout(SECONDS):
                job.result = await make_plan(config, PlanRequest((composition,)), job.progress)
        except CrossplyError as problem:
            job.problem = problem
        except TimeoutError:
            job.problem = CrossplyError(
                f"the plan took longer than {SECONDS:.0f} seconds",
                hint="make it with: crossply plan -f composition.yaml",
            )
        finally:
            job.is_running = False


def applied_revision(composition: Object, revision: Object) -> Object:
    """The Composition as it was in a revision: what applying it again would mean."""
    spec = {key: value for key, value in revision["spec"].items() if key != "revision"}
    metadata = composition["metadata"]
    identity = {key: metadata[key] for key in ("name", "labels", "annotations") if key in metadata}
    return {
        **{key: composition[key] for key in ("apiVersion", "kind")},
        "metadata": identity,
        "spec": spec,
    }


_jobs: WeakKeyDictionary[Viewer, PlanJobs] = WeakKeyDictionary()


def jobs_of(viewer: Viewer) -> PlanJobs:
    """The plans of a viewer."""
    return _jobs.setdefault(viewer, PlanJobs())
