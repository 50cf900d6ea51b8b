"""Recorded runs: the list, the waterfall of one, what a step was sent and answered, and two side by side."""

from __future__ import annotations

import asyncio

from crossply.errors import CrossplyError
from crossply.runs.client import RunClient
from crossply.runs.errors import NoRecorder, RunAmbiguous, RunNotFound, RunsError
from crossply.runs.model import Run, RunSummary
from crossply.runs.run_provenance import explain_run
from crossply.ui.page_types import Content, Navigation, PageNotFound, PageRequest, Route
from crossply.ui.views.run_comparison import run_comparison
from crossply.ui.views.run_detail import StepView, effect_view, step_view
from crossply.ui.views.run_waterfall import waterfall

LIMIT = 50
_SECONDS = 3.0
"""How long a page waits for the sources of fields."""


async def show_list(page: PageRequest) -> Content:
    """The latest runs, of everything or of one object."""
    query = page.query
    kind, namespace, name = (query.get(key, "") for key in ("kind", "namespace", "name"))
    runs: list[RunSummary] = []
    problem: CrossplyError | None = None
    try:
        runs = await RunClient(page.client).list_runs(
            kind or None, namespace, name, LIMIT, before=query.get("before", "")
        )
    except RunsError as caught:
        problem = caught
    values = {
        "runs": runs,
        "problem": problem,
        "unrecorded": isinstance(problem, NoRecorder),
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "more": len(runs) == LIMIT,
        "earlier": _earlier(runs),
    }
    title = f"Runs of {kind}/{name}" if name else "Runs"
    return Content("runs.html", values, title=title)


def _earlier(runs: list[RunSummary]) -> str:
    """The run to compare the newest one with: the one before it of the same resource, else the next one."""
    same = [run.id for run in runs if run.subject == runs[0].subject] if runs else []
    return same[1] if len(same) > 1 else runs[min(1, len(runs) - 1)].id if runs else ""


async def show(page: PageRequest) -> Content:
    """The waterfall of a run, with one of its steps or effects open."""
    run = await _load(page, page.match["id"])
    effect = effect_view(run, _number(page.query.get("effect", "")))
    step = None if effect is not None else await _step(run, page.query.get("step", ""))
    subject = run.summary.subject
    values = {"run": run, "waterfall": waterfall(run), "step": step, "effect": effect}
    return Content("run.html", values, title=f"Run {run.summary.id} of {subject.kind}/{subject.name}")


async def compare(page: PageRequest) -> Content:
    """Two runs side by side."""
    left, right = [await _load(page, page.query.get(key, "")) for key in ("a", "b")]
    values = {"left": left, "right": right, "comparison": run_comparison(left, right)}
    return Content(
        "run_comparison.html", values, title=f"Runs {left.summary.id} and {right.summary.id} compared"
    )


async def _load(page: PageRequest, run_id: str) -> Run:
    if not run_id:
        raise PageNotFound("choose two runs to compare", hint="begin with the list of runs")
    try:
        return await RunClient(page.client).load_run(run_id)
    except (RunNotFound, RunAmbiguous, NoRecorder) as problem:
        raise PageNotFound(str(problem), hint=problem.hint) from None


async def _step(run: Run, chosen: str) -> StepView | None:
    """The selected step, else the default one, with the sources of its fields where known."""
    number = _number(chosen)
    if not 0 <= number < len(run.steps):
        number = _telling_step(run)
    try:
        async with asyncio.timeout(_SECONDS):
            provenance = await asyncio.to_thread(explain_run, run.world)
    except (CrossplyError, TimeoutError):
        provenance = None
    return step_view(run, number, provenance)


def _telling_step(run: Run) -> int:
    """The default step: the one that failed, else the first."""
    return next((number for number, step in enumerate(run.steps) if step.problem), 0)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else -1


ROUTES = (
    Route("GET", "/runs", show_list),
    Route("GET", "/runs/compare", compare),
    Route("GET", "/runs/{id}", show),
)
NAVIGATION = Navigation("Runs", "/runs", 30)
