"""A function that does not answer is given a rest, and found again when it is back."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import respond
from crossply.functions.circuit_breaker import (
    INITIAL_PAUSE,
    MAX_PAUSE,
    THRESHOLD,
    CircuitBreaker,
    CircuitOpen,
)
from crossply.functions.failures import FunctionError, FunctionTimedOut, FunctionUnavailable
from tests.support.function_servers import REQUEST


class Scripted:
    """A runner with a scripted outcome, and a counter."""

    def __init__(self):
        self.problem = None
        self.calls = 0
        self.closed = False

    def __call__(self, request, timeout):
        self.calls += 1
        if self.problem is not None:
            raise self.problem
        return respond(request)

    def close(self):
        self.closed = True


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def broken(problem=FunctionUnavailable("nobody is there", hint="does it run?")):  # noqa: B008
    """A breaker that has just opened, its runner and its clock."""
    runner, clock = Scripted(), Clock()
    breaker = CircuitBreaker(runner, clock)
    runner.problem = problem
    for _ in range(THRESHOLD):
        with pytest.raises(type(problem)):
            breaker(REQUEST, 1.0)
    return breaker, runner, clock


def test_a_function_that_answers_is_always_called():
    runner = Scripted()
    breaker = CircuitBreaker(runner)
    for _ in range(THRESHOLD * 3):
        breaker(REQUEST, 1.0)
    assert runner.calls == THRESHOLD * 3


@pytest.mark.parametrize("problem", [FunctionUnavailable("gone"), FunctionTimedOut("late")])
def test_after_several_failures_in_a_row_it_is_not_called(problem):
    breaker, runner, _ = broken(problem)
    for _ in range(100):
        with pytest.raises(CircuitOpen) as failed:
            breaker(REQUEST, 1.0)
    assert runner.calls == THRESHOLD
    assert str(failed.value) == str(problem), "conditions say the same as before"
    assert "not answer 5 times in a row" in failed.value.hint


def test_one_call_after_every_pause_probes_whether_it_is_back():
    breaker, runner, clock = broken()
    clock.now += INITIAL_PAUSE
    with pytest.raises(FunctionUnavailable):
        breaker(REQUEST, 1.0)
    with pytest.raises(CircuitOpen):
        breaker(REQUEST, 1.0)
    assert runner.calls == THRESHOLD + 1
    runner.problem = None
    clock.now += MAX_PAUSE
    breaker(REQUEST, 1.0)
    breaker(REQUEST, 1.0)
    assert runner.calls == THRESHOLD + 3, "once it answers, everybody may ask"


def test_pauses_grow_and_have_an_end():
    breaker, _, clock = broken()
    pauses = []
    for _ in range(8):
        start = clock.now
        while True:
            clock.now += 0.5
            try:
                breaker(REQUEST, 1.0)
            except CircuitOpen:
                continue
            except FunctionUnavailable:
                break
        pauses.append(clock.now - start)
    assert pauses == sorted(pauses)
    assert pauses[0] == INITIAL_PAUSE
    assert pauses[-1] == MAX_PAUSE


def test_a_call_that_waits_does_not_keep_others_from_trying():
    breaker, runner, clock = broken()

    def hang(request, timeout):
        clock.now += MAX_PAUSE
        runner.problem = None
        breaker._runner = runner
        breaker(REQUEST, 1.0)  # another call, while this one hangs
        raise FunctionTimedOut("only this request gets no answer")

    breaker._runner = hang
    clock.now += INITIAL_PAUSE
    with pytest.raises(FunctionTimedOut):
        breaker(REQUEST, 1.0)
    assert runner.calls == THRESHOLD + 1


def test_a_function_that_answers_with_an_error_is_there():
    breaker, runner, clock = broken()
    clock.now += INITIAL_PAUSE
    runner.problem = FunctionError("I do not like this")
    for _ in range(THRESHOLD * 2):
        with pytest.raises(FunctionError, match="I do not like this"):
            breaker(REQUEST, 1.0)
    assert runner.calls == THRESHOLD * 3


def test_closing_it_closes_the_runner():
    runner = Scripted()
    CircuitBreaker(runner).close()
    assert runner.closed
