"""The model of a recorded run."""

from __future__ import annotations

from crossply.compose.conditions import RESPONSIVE
from crossply.compose.engine_field_paths import MODERN
from crossply.runs.model import COMPOSITE, World


def test_a_recorded_clock_gives_the_same_times_in_every_replay():
    world = World(COMPOSITE, {}, MODERN, None, None, RESPONSIVE, (1,), {}, {}, ("a", "b"), ())
    for _ in range(2):
        now = world.settings().now
        assert [now(), now(), now()] == ["a", "b", "b"]
