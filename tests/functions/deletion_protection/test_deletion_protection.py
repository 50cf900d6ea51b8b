"""function-deletion-protection: which resources get a Usage, as the published function decides."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin.deletion_protection import LABEL, run
from tests.support.functions.original_comparison import (
    Case,
    expected_answer,
    load_cases,
    load_recorded,
    our_answer,
)

CASES = load_cases("deletion-protection")
RECORDED = load_recorded("deletion-protection")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answer_is_that_of_the_published_function(case: Case):
    assert our_answer(case, run) == expected_answer(case, RECORDED)


@pytest.mark.parametrize("metadata", [None, "text", {"labels": "text"}, {"labels": {LABEL: None}}, []])
def test_malformed_metadata_gives_no_protection(metadata: object):
    odd = Resource({"kind": "Odd", "metadata": metadata})
    response = run(Request(State(odd, {"a": odd}), State(None, {"a": odd})))
    assert response.desired is not None
    assert list(response.desired.resources) == ["a"]
