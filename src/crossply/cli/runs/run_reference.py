"""The flags that the commands about runs share, and finding the run that a user names.

A run is named by its id or the beginning of one, by `latest`, or by `KIND[.GROUP]/NAME`, which is the latest
run of that composite resource; `~1` behind it is the run before that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from crossply.cli.framework.command import Argument, Flag, Invocation

if TYPE_CHECKING:
    from crossply.kube.client import Client
    from crossply.runs.client import RunClient
    from crossply.runs.model import Run, RunSummary

Result = TypeVar("Result")

LATEST = "latest"
_NEAREST = 50
"""How many runs are looked through for one that the user may have meant."""

RUN = Argument(
    "run",
    "The run: its id or a unique prefix of it, 'latest', or KIND[.GROUP]/NAME for the latest run of an XR. "
    "With ~1 at the end, the run before that one.",
)
ACCESS_FLAGS = (
    Flag("namespace", "Namespace of the XR.", short="n", kind="string", default=""),
    Flag("context", "Kubernetes context.", kind="string", default=""),
)


class Recorder:
    """The recorder of a control plane, as one user sees it."""

    def __init__(self, client: Client, runs: RunClient, namespace: str) -> None:
        self.client = client
        self.runs = runs
        self.namespace = namespace

    async def list(self, resource: str, name: str, limit: int) -> list[RunSummary]:
        """The latest runs of an XR, of a kind or, without a resource, of everything."""
        if not resource:
            return await self.runs.list_runs(None, self.namespace, "", limit)
        from crossply.resource_tree.trace_target import parse_target

        target = parse_target(resource, name)
        kind = await self._kind(target.type)
        return await self.runs.list_runs(kind, self.namespace, target.name, limit)

    async def load(self, run: str) -> Run:
        """The run that a user names."""
        from crossply.runs.errors import RunNotFound

        base, tilde, back = run.rpartition("~")
        if not tilde:
            base, back = run, "0"
        if "/" not in base and base != LATEST:
            return await self._by_id(run)
        steps = int(back) if back.isdecimal() and len(back) < 4 else 0
        listed = await self.list("" if base == LATEST else base, "", steps + 1)
        if len(listed) <= steps:
            count = f"only {len(listed)} of the runs of {base} are" if listed else f"no run of {base} is"
            raise RunNotFound(f"cannot find the run {run}: {count} recorded", hint=_HOW_TO_RUN)
        return await self.runs.load_run(listed[steps].id)

    async def _by_id(self, run: str) -> Run:
        from crossply.runs.errors import RunNotFound

        try:
            return await self.runs.load_run(run)
        except RunNotFound as problem:
            from difflib import get_close_matches

            known = [summary.id for summary in await self.runs.list_runs(None, "", "", _NEAREST)]
            nearest = get_close_matches(run, known, 3, 0.5) or known[:3]
            raise problem.replace(hint=_did_you_mean(nearest)) from None

    async def _kind(self, text: str) -> str:
        """The kind that the user means; one that is not served any more still has runs."""
        from crossply.resource_tree.served_kinds import Kinds

        kind = await Kinds(self.client).named(text)
        return text if kind is None else kind.kind


def _did_you_mean(ids: list[str]) -> str:
    return f"did you mean {' or '.join(ids)}? crossply runs lists the latest" if ids else _HOW_TO_RUN


_HOW_TO_RUN = (
    "crossply runs lists what is recorded of the XRs that you may get; old runs make room for new ones, and "
    "kubectl annotate XR crossplane.io/reconcile-requested-at=now has an XR reconciled"
)

_HOW_TO_GRANT = (
    "an administrator of the cluster lets you see where runs are served: kubectl create role "
    "run-viewer -n crossplane-system --verb=get --resource=configmaps --resource-name=crossply-runs, and "
    "kubectl create rolebinding run-viewer -n crossplane-system --role=run-viewer --user=YOU (or "
    "--serviceaccount=NAMESPACE:NAME); which runs you then see, your rights to get XRs decide"
)


def with_recorder(invocation: Invocation, work: Callable[[Recorder], Awaitable[Result]]) -> Result:
    """Do something with the recorder of the cluster that the flags name."""
    import asyncio

    from crossply.cli.framework.cluster_configuration import cluster_configuration
    from crossply.cli.framework.progress import progress
    from crossply.kube.client import Client
    from crossply.kube.failures import Forbidden
    from crossply.runs.client import RunClient

    config = cluster_configuration(invocation["context"], invocation.environ)

    async def connected() -> Result:
        async with Client(config) as client:
            try:
                return await work(Recorder(client, RunClient(client), invocation["namespace"] or ""))
            except Forbidden as problem:
                raise problem.replace(hint=_HOW_TO_GRANT) from None

    with progress(invocation, "reading recorded runs"):
        return asyncio.run(connected())
