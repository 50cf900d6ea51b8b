from crossply.ui.views.run_comparison import compare_runs
from tests.support.ui.sample_runs import applied, config_map, desired, run, step

ONE, TWO = desired(one=config_map(a="1")), desired(one=config_map(a="2"))


def test_the_same_run_differs_in_nothing():
    one = run(step("first", {}, ONE), effects=(applied("one", 0.0),))
    comparison = compare_runs(one, one)
    assert (comparison.facts, comparison.inputs, comparison.first_different) == ((), (), "")
    assert comparison.effects == (("applied", "ConfigMap/one (one)", "both"),)


def test_the_first_step_that_answered_differently_is_named():
    left = run(step("same", {}, ONE), step("other", ONE, ONE), step("last", ONE, ONE))
    right = run(step("same", {}, ONE), step("other", ONE, TWO), step("last", TWO, TWO))
    comparison = compare_runs(left, right)
    assert comparison.first_different == "other"
    assert [step.sameness for step in comparison.steps] == ["same", "different", "different"]
    assert [tuple(row) for row in comparison.steps[1].groups[0].rows] == [("changed", "data.a", "1", "2")]


def test_what_the_runs_were_given_is_compared_without_what_changes_with_every_write():
    left = run()
    right = run(composite={**left.composite, "metadata": {"resourceVersion": "7"}})
    assert compare_runs(left, right).inputs == ()
    edited = run(composite={**left.composite, "spec": {"region": "us-east"}})
    [group] = compare_runs(left, edited).inputs
    assert [row.path for row in group.rows] == ["spec.region"]


def test_steps_and_effects_of_one_run_only_are_told():
    left = run(step("first", {}, ONE), effects=(applied("one", 0.0),))
    right = run(step("second", {}, ONE), effects=(applied("two", 0.0),))
    comparison = compare_runs(left, right)
    assert [(step.name, step.sameness) for step in comparison.steps] == [
        ("first", "only in the first"),
        ("second", "only in the second"),
    ]
    assert [where for _, _, where in comparison.effects] == ["only in the first", "only in the second"]


def test_another_revision_of_a_function_is_told():
    left = run(step("first", {}, ONE, function_revision="function-first-1"))
    right = run(step("first", {}, ONE, function_revision="function-first-2"))
    assert compare_runs(left, right).steps[0].facts == ("function function-first-1 became function-first-2",)
