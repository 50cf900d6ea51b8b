"""Reading recorded runs from all replicas of a control plane, with the rights of the client's user."""

from __future__ import annotations

from crossply.kube.client import Client
from crossply.runs.errors import NoRecorder
from crossply.runs.model import Run, RunSummary


class RunClient:
    """Asks every replica that records runs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def list_runs(
        self,
        kind: str | None = None,
        namespace: str = "",
        name: str = "",
        limit: int = 50,
        *,
        uid: str = "",
        before: str = "",
    ) -> list[RunSummary]:
        """The latest runs, newest first; only of what the user may get.

        Without a kind, runs of everything; without a name, of every object of the kind. `before` is the id of
        a run: only older ones are listed. Raises `NoRecorder` where nothing can be asked.
        """
        raise NoRecorder("no replica of the control plane records runs")

    async def load_run(self, id_: str) -> Run:
        """A whole run by its id, or by the beginning of it; raises `RunNotFound` and `RunAmbiguous`."""
        raise NoRecorder("no replica of the control plane records runs")
