from crossply.functions.field_provenance import COMPOSITE, CONDITION, REQUEST, SourceField
from crossply.provenance.model import FieldSource, Provenance
from crossply.runs.model import FieldChange
from crossply.ui.views.run_detail import effect_view, step_view
from tests.support.ui.sample_runs import applied, config_map, desired, run, step

BEFORE = desired(one=config_map(a="1"), gone=config_map())
AFTER = desired(one=config_map(a="2"), new=config_map(b="1"))


def test_a_step_shows_its_changes_by_resource():
    view = step_view(run(step("first", BEFORE, AFTER)), 0)
    assert view is not None
    assert [(group.change, group.name) for group in view.groups] == [
        ("removed", "gone"),
        ("added", "new"),
        ("changed", "one"),
    ]
    assert [tuple(row)[:4] for row in view.groups[2].rows] == [("changed", "data.a", "1", "2")]


def test_sources_are_worded_as_in_the_terminal():
    fields = (SourceField(COMPOSITE, "spec.size"), SourceField(COMPOSITE, "spec.on", CONDITION))
    source = FieldSource("first", "f", "patch 2", "", fields)
    view = step_view(run(step("first", BEFORE, AFTER)), 0, Provenance({"one": {"data.a": source}}))
    assert view is not None
    assert view.groups[2].rows[0].source == "patch 2, from spec.size, if spec.on"
    unknown = FieldSource("first", "function-x", "function", "", (SourceField(REQUEST, ""),))
    view = step_view(run(step("first", BEFORE, AFTER)), 0, Provenance({"one": {"data.a": unknown}}))
    assert view is not None
    assert view.groups[2].rows[0].source == "function-x, from anything that the function was sent"


def test_a_step_that_changed_nothing_has_no_groups():
    view = step_view(run(step("first", BEFORE, BEFORE)), 0)
    assert view is not None
    assert view.groups == ()
    assert view.context is None


def test_request_and_response_are_yaml():
    view = step_view(run(step("first", {}, AFTER)), 0)
    assert view is not None
    assert view.rounds[0].request == "observed: {}\n"
    assert view.rounds[0].response.startswith("desired:\n")


def test_an_effect_shows_its_fields():
    effects = (applied("one", 0.0, FieldChange("data.a", None, "1"), FieldChange("data.b", "2", None)),)
    view = effect_view(run(effects=effects), 0)
    assert view is not None
    assert view.object == "ConfigMap/one (one)"
    assert [tuple(row)[:4] for row in view.rows] == [
        ("added", "data.a", "", "1"),
        ("removed", "data.b", "2", ""),
    ]


def test_a_step_that_is_not_in_the_run_has_no_view():
    assert step_view(run(), 0) is None
    assert step_view(run(step("a", {}, {})), -1) is None
    assert effect_view(run(), 3) is None


def test_a_step_that_desires_a_megabyte_is_cut():
    huge = desired(one=config_map(a="x" * 1_000_000))
    view = step_view(run(step("first", {}, huge)), 0)
    assert view is not None
    assert len(str(view.groups)) + len(view.rounds[0].response) < 120_000
