"""What the operator reads in the log: enough, and not too much."""

from __future__ import annotations

import logging

import pytest

from crossply.apiserver.http.rate_limited_log import RateLimitedLog


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_repeated_message_is_logged_once_a_minute_with_a_count(caplog: pytest.LogCaptureFixture) -> None:
    clock = _Clock()
    log = RateLimitedLog(clock)
    for _ in range(1000):
        log.warn("the disk is full")
    log.warn("something else")
    clock.now = 61.0
    log.warn("the disk is full")
    assert caplog.messages == [
        "the disk is full",
        "something else",
        "the disk is full (and 999 times more since it was last said)",
    ]


def test_ever_new_messages_do_not_fill_the_memory(caplog: pytest.LogCaptureFixture) -> None:
    log = RateLimitedLog(_Clock())
    with caplog.at_level(logging.ERROR):
        for number in range(10_000):
            log.warn(f"message {number}")
    assert len(log._logged_at) <= 256


def test_an_exception_is_logged_by_type_and_place_never_by_its_text(caplog: pytest.LogCaptureFixture) -> None:
    try:
        int("canary")
    except ValueError as problem:
        RateLimitedLog().internal_error("a test", problem)
    (message,) = caplog.messages
    assert "ValueError" in message
    assert "test_rate_limited_log.py" in message
    assert "canary" not in message
