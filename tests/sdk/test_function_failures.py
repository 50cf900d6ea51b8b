"""An exception of a function becomes a fatal result with its place, and nothing of it is desired."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL
from crossply.sdk import Fatal, function
from tests.support.sdk.function_calls import EARLIER, both_ways, failing, new_request


def test_an_exception_is_a_fatal_result_that_names_file_and_line():
    response = both_ways(failing)
    line = failing.__code__.co_firstlineno + 2
    assert [result.severity for result in response.results] == [SEVERITY_FATAL]
    assert response.results[0].message == f"function_calls.py:{line}: KeyError: 'nowhere'"
    assert response.desired == EARLIER


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (Fatal("the region is closed"), "the region is closed"),
        (SystemExit(3), "the function called exit(3)"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (ValueError(), "ValueError"),
        (MemoryError(), "MemoryError"),
        (ValueError("x" * 10_000), "x" * 100),
    ],
)
def test_every_exception_is_reported(problem, says):
    def compose(req, rsp):
        raise problem

    message = both_ways(compose).results[0].message
    assert says in message
    assert len(message) <= 2000


def test_the_traceback_goes_to_the_log_only():
    logged = []
    compose = function(failing)
    compose.log = logged.append
    assert "Traceback" not in compose.run(new_request()).results[0].message
    assert "Traceback" in logged[0]
    assert "KeyError: 'nowhere'" in logged[0]
