"""What the operator reads in the log: enough, and not too much."""

from __future__ import annotations

import logging

import pytest

from crossply.apiserver.http.rate_limited_log import Complaints


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_same_complaint_is_said_once_a_minute_with_a_count(caplog: pytest.LogCaptureFixture) -> None:
    clock = _Clock()
    complaints = Complaints(clock)
    for _ in range(1000):
        complaints.say("the disk is full")
    complaints.say("something else")
    clock.now = 61.0
    complaints.say("the disk is full")
    assert caplog.messages == [
        "the disk is full",
        "something else",
        "the disk is full (and 999 times more since it was last said)",
    ]


def test_ever_new_complaints_do_not_fill_the_memory(caplog: pytest.LogCaptureFixture) -> None:
    complaints = Complaints(_Clock())
    with caplog.at_level(logging.ERROR):
        for number in range(10_000):
            complaints.say(f"complaint {number}")
    assert len(complaints._said) <= 256


def test_a_mistake_is_told_by_kind_and_place_never_by_its_text(caplog: pytest.LogCaptureFixture) -> None:
    try:
        int("canary")
    except ValueError as problem:
        Complaints().mistake("a test", problem)
    (message,) = caplog.messages
    assert "ValueError" in message
    assert "test_complaints.py" in message
    assert "canary" not in message
