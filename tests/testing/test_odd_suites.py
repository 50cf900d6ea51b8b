"""Any content of a suite: it is run, or an error is reported. Nothing else happens."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.testing.junit import junit_text
from crossply.testing.report import coverage_text, suite_text, summary
from crossply.testing.suite_run import SuiteRunOptions, run_suite
from crossply.values.deepcopy import deepcopy
from crossply.values.yaml import Document
from tests.support.suite_folder import COMPOSITION, suite

OBSERVED = {
    "apiVersion": "example.org/v1",
    "kind": "Bucket",
    "metadata": {
        "name": "b",
        "namespace": "team",
        "annotations": {"crossplane.io/composition-resource-name": "bucket"},
    },
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}
CASES = (
    {
        "name": "one",
        "xrPatch": {"spec": {"size": 5}},
        "observed": [OBSERVED],
        "observe": [{"name": "bucket", "ready": True, "status": {"a": 1}, "patch": {"spec": {"b": 2}}}],
        "expect": {
            "match": "Exact",
            "composite": {"status": {"url": None}},
            "resources": [{"name": "bucket", "ready": True, "object": {"spec": {"ports": [{"name": "x"}]}}}],
            "conditions": [{"type": "Ready", "contains": "cdn"}],
            "results": [{"severity": "Normal"}],
            "context": {"a": 1},
            "absent": {"resources": ["x"], "conditions": [{"type": "x"}], "results": [{"contains": "y"}]},
            "deleted": ["x"],
        },
    },
    {
        "name": "two",
        "rounds": [
            {"expect": {"otherResources": "Forbid"}},
            {"observe": [{"name": "*", "ready": False}], "expect": {"unchanged": True}},
            {"xrPatch": {"spec": {"cdn": None}}, "expect": {"failure": "cdn"}},
        ],
    },
)
SOUND = suite(
    *CASES,
    composition=yaml.safe_load(COMPOSITION),
    functions=[],
    requiredResources=[OBSERVED],
    credentials=[{"kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "YQ=="}}],
    context={"k": [1]},
    timeout="5s",
    validate=True,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=4) | st.just("*"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(child_path for key, child in inner for child_path in _paths(child, (*path, key)))]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(_paths(SOUND)[1:]), JSON)
def test_a_suite_with_any_value_at_any_place_gives_a_result(path: tuple[Any, ...], value: Any) -> None:
    written = deepcopy(SOUND)
    place = written
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    result = run_suite(Document(written, "x_test.yaml", 1), SuiteRunOptions())
    assert result.cases
    assert suite_text(result)
    assert summary([result], 0.1)
    junit_text([result])
    coverage_text(result.coverages)


def test_the_base_of_the_odd_suites_runs() -> None:
    result = run_suite(Document(SOUND, "x_test.yaml", 1), SuiteRunOptions())
    assert [case.status for case in result.cases] == ["failed", "failed"]
