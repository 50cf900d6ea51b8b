"""Conditions stay small enough to be written, whatever the messages of functions and errors."""

from __future__ import annotations

from crossply.compose.conditions import MOST_MESSAGE, failed, set_conditions
from crossply.compose.events import StatusCondition


def test_a_long_message_is_truncated_with_the_number_of_missing_characters() -> None:
    [condition] = set_conditions([], [failed("x" * 9_000_000)], "now", 1)
    assert condition["message"] == "x" * MOST_MESSAGE + f"... ({9_000_000 - MOST_MESSAGE} more characters)"


def test_a_message_that_fits_is_left_alone_and_keeps_its_time() -> None:
    before = set_conditions([], [failed("x" * MOST_MESSAGE)], "then", 1)
    assert before[0]["message"] == "x" * MOST_MESSAGE
    assert set_conditions(before, [failed("x" * MOST_MESSAGE)], "now", 1) == before


def test_a_message_that_is_cut_is_the_same_the_next_time() -> None:
    before = set_conditions([], [failed("x" * 100_000)], "then", 1)
    assert set_conditions(before, [failed("x" * 100_000)], "now", 1) == before


def test_many_long_messages_are_small_in_all() -> None:
    flood = [StatusCondition(f"T{n}", "True", "R" * 5_000, "x" * 1_000_000) for n in range(100)]
    conditions = set_conditions([], flood, "now", 1)
    assert sum(len(str(condition)) for condition in conditions) < 600_000
