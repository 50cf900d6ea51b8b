import pytest

from crossply.runs.model import FieldChange
from crossply.ui.views.run_waterfall import MAX_EFFECTS, WIDTH, duration, ticks, waterfall
from tests.support.ui.sample_runs import applied, config_map, desired, run, step

ONE = desired(one=config_map(a="1"))


def test_bars_are_placed_by_time_in_thousandths_of_the_run():
    rows = waterfall(run(step("first", {}, ONE, 0.01), step("second", ONE, ONE, 0.05))).rows
    assert [(row.label, row.bars[0].x, row.bars[0].width) for row in rows] == [
        ("first", 100.0, 200.0),
        ("second", 500.0, 200.0),
    ]


def test_steps_and_effects_are_in_the_order_of_time():
    effects = (applied("one", 0.06, FieldChange("data.a", "1", "2")),)
    rows = waterfall(run(step("late", {}, ONE, 0.08), step("early", {}, ONE), effects=effects)).rows
    assert [(row.sort, row.label) for row in rows] == [
        ("step", "early"),
        ("effect", "applied"),
        ("step", "late"),
    ]
    assert rows[1].notes == ("1 field",)


def test_a_step_without_duration_is_visible_and_nothing_leaves_the_picture():
    rows = waterfall(run(step("last", {}, ONE, 0.1, seconds=0.0, rounds=()))).rows
    [bar] = rows[0].bars
    assert bar.width > 0
    assert bar.x + bar.width <= WIDTH


def test_a_step_shows_rounds_warnings_and_failures():
    call = step("a", {}, ONE).rounds[0]
    warned = step("warned", {}, ONE, rounds=(call, call), results=({"severity": "SEVERITY_WARNING"},))
    failed = step("failed", {}, ONE, 0.05, problem="no")
    rows = waterfall(run(warned, failed)).rows
    assert rows[0].notes == ("2 rounds", "1 warning")
    assert [row.state for row in rows] == ["ready", "failing"]


def test_a_run_of_ten_thousand_effects_shows_the_first():
    effects = tuple(applied(f"e{number}", 0.0) for number in range(10_000))
    picture = waterfall(run(effects=effects))
    assert (len(picture.rows), picture.effects_left_out) == (MAX_EFFECTS, 10_000 - MAX_EFFECTS)


@pytest.mark.parametrize("total", [1e-5, 0.0003, 0.02, 0.1, 1.0, 7.0, 59.0, 3000.0])
def test_the_axis_has_a_few_round_times(total: float):
    marks = ticks(total)
    assert 3 <= len(marks) <= 7
    assert marks[0].x == 0
    assert all(mark.x <= WIDTH for mark in marks)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0"), (0.00083, "830 µs"), (0.0123, "12.3 ms"), (0.25, "250 ms"), (3.4, "3.4 s"), (600, "10 min")],
)
def test_durations_are_human_readable(seconds: float, text: str):
    assert duration(seconds) == text
