from crossply.ui.views.run_comparison import run_comparison
from tests.support.ui.sample_runs import config_map, desired, run, step

ONE, TWO = desired(one=config_map(a="1")), desired(one=config_map(a="2"))


def test_the_same_run_differs_in_nothing():
    one = run(step("first", {}, ONE))
    comparison = run_comparison(one, one)
    assert (comparison.facts, comparison.inputs, comparison.first_different) == ((), (), "")
    assert comparison.effects == ()


def test_the_first_step_with_a_different_output_is_named_and_later_ones_that_pass_it_on_are_not():
    left = run(step("same", {}, ONE), step("other", ONE, ONE), step("last", ONE, ONE))
    right = run(step("same", {}, ONE), step("other", ONE, TWO), step("last", TWO, TWO))
    comparison = run_comparison(left, right)
    assert comparison.first_different == "other"
    assert [step.name for step in comparison.steps if step.group is not None] == ["other"]
    group = comparison.steps[1].group
    assert group is not None
    assert [tuple(row)[:4] for row in group.rows] == [("changed", "one.data.a", "1", "2")]


def test_the_inputs_of_runs_are_compared_without_fields_that_change_with_every_write():
    left = run()
    stamped = {"metadata": {"resourceVersion": "7", "generation": 3}}
    assert run_comparison(left, run(composite={**left.composite, **stamped})).inputs == ()
    edited = run(composite={**left.composite, "spec": {"region": "us-east"}})
    [group] = run_comparison(left, edited).inputs
    assert [row.path for row in group.rows] == ["spec.region"]


def test_a_step_of_one_run_only_is_shown():
    comparison = run_comparison(run(step("first", {}, ONE)), run(step("second", {}, ONE)))
    assert [(step.name, step.seconds) for step in comparison.steps] == [
        ("first", (0.02, None)),
        ("second", (None, 0.02)),
    ]
