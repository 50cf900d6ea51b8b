"""Pauses after failures."""

from __future__ import annotations

import pytest

from crossply.values.backoff import JITTER, Backoff, pause_after


@pytest.mark.parametrize(
    ("failures", "seconds", "reason"),
    [
        (1, 0.5, "the first pause is given"),
        (2, 1.0, "each is twice the one before"),
        (4, 4.0, "and so on"),
        (5, 5.0, "up to the longest"),
        (100_000, 5.0, "however long the series is"),
    ],
)
def test_a_pause_is_doubled_with_each_failure_up_to_the_longest(failures, seconds, reason):
    assert pause_after(failures, 0.5, 5.0) == seconds, reason


def test_a_backoff_varies_by_a_tenth_and_begins_anew_after_a_success():
    chances = iter([0.0, 1.0, 0.5])
    backoff = Backoff(1.0, 30.0, lambda: next(chances))
    assert [backoff.next(), backoff.next()] == [1.0 - JITTER, 2 * (1.0 + JITTER)]
    backoff.reset()
    assert backoff.next() == 1.0
