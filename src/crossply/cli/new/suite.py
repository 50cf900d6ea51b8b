"""Playing a Composition for the suite that is to be written: what comes is what will be expected."""

from __future__ import annotations

from crossply.compose.rendering import Rendered
from crossply.rendering.functions import caller, running
from crossply.testing.loading import prepare_suite, scene_of
from crossply.testing.playing import Play, Played, Stage
from crossply.testing.suite import EVERYTHING, Case, Happening, Suite


def played_twice(suite: Suite) -> list[Rendered]:
    """What comes at first, and when everything is ready."""
    prepared = prepare_suite(suite)
    scene = scene_of(suite, Case("", (), ()), prepared)
    with running(prepared.functions, None) as runners:
        call = caller(runners, suite.timeout)
        stage = Stage(prepared.recipe, prepared.machinery(scene.xr), call, prepared.defaulted)
        play = Play(stage, scene)
        return [_reached(play.round()), _reached(play.round([Happening(EVERYTHING, ready=True)]))]


def _reached(played: Played) -> Rendered:
    if played.problem is not None:
        raise played.problem
    assert played.rendered is not None
    return played.rendered
