"""Built-in functions give the responses recorded from the published programs (`tests.functions.record`)."""

from __future__ import annotations

import pytest

from crossply.functions import builtin
from crossply.functions.builtin.catalogue import CATALOGUE, BuiltIn
from crossply.functions.builtin.catalogue import RECORDED as RECORDED_COMPARISON
from tests.support.functions.original_comparison import (
    Case,
    expected_answer,
    folder,
    load_cases,
    load_recorded,
    our_answer,
)

FUNCTIONS = (
    *("auto-ready", "cel-filter", "dummy", "environment-configs", "extra-resources"),
    *("sequencer", "status-transformer", "tag-manager"),
)
CASES = [(function, case) for function in FUNCTIONS for case in load_cases(function)]
RECORDED = {function: load_recorded(function) for function in FUNCTIONS}


@pytest.mark.parametrize(("function", "case"), CASES, ids=[f"{name}: {case.name}" for name, case in CASES])
def test_the_answer_is_that_of_the_published_function(function: str, case: Case) -> None:
    assert our_answer(case, builtin.load(function)) == expected_answer(case, RECORDED[function])


@pytest.mark.parametrize("function", CATALOGUE, ids=lambda function: function.name)
def test_the_catalogue_says_that_answers_are_recorded_where_there_is_a_recording(function: BuiltIn) -> None:
    is_recorded = (folder(function.name) / "recorded.json").exists()
    assert (function.comparison == RECORDED_COMPARISON) is is_recorded
