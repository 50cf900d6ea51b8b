"""A whole `Run` around a world that was kept in memory, for what shows, compares and exports runs."""

from __future__ import annotations

from crossply.compose.effects import Observe
from crossply.compose.metadata import RESOURCE_NAME_ANNOTATION, annotations_of, name_of, namespace_of, uid_of
from crossply.runs.model import COMPOSED, Run, RunSummary, Subject, World


def run_in(world: World, **fields: object) -> Run:
    """The run, without steps and effects, which the recorder makes of its world."""
    xr = world.xr
    subject = Subject(xr["apiVersion"], xr["kind"], namespace_of(xr), name_of(xr), uid_of(xr))
    summary = RunSummary("01hf3k9w2x5a", subject, 1.8e9, 0.5, ("XR edited",), COMPOSED, "", "", "", "", (), 1)
    observe = next(e for e in reversed(world.exchanges) if isinstance(e.effect, Observe))
    observed = {
        annotations_of(resource.snapshot.object)[RESOURCE_NAME_ANNOTATION]: resource.snapshot.object
        for resource in observe.answer.resources
    }
    run = Run(summary, "", observe.effect.xr, observed, (), (), world, 0)
    return run._replace(**fields)  # type: ignore[arg-type]
