"""Answers of functions are reused within their time to live, and only for the very same question."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import SECOND, Request, Resource, Response, State, fatal, respond
from crossply.compose.wire_codec import request_tag
from crossply.control.calls.response_cache import ResponseCache


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def question(size: float = 1.0) -> Request:
    return Request(State(Resource({"kind": "XApp", "spec": {"size": size}})))


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_same_question_has_the_same_answer_until_its_time_is_over(clock) -> None:
    cache = ResponseCache(clock=clock)
    response = respond(question(), ttl=10 * SECOND)
    assert cache.put("f", question(), response).ttl == 10
    clock.now += 4
    cached = cache.get("f", question())
    assert cached is not None
    assert (cached.response, cached.ttl) == (response._replace(tag=request_tag(question())), 6)
    clock.now += 6
    assert cache.get("f", question()) is None


@pytest.mark.parametrize(
    ("function", "other_request", "why"),
    [
        ("g", question(), "another function"),
        ("f", question(2.0), "another observed state"),
        (
            "f",
            question().with_requirements(None, {"a": ()}, {}, {}),
            "another iteration, whose tag is the same",
        ),
    ],
)
def test_another_request_is_a_cache_miss(clock, function, other_request, why) -> None:
    cache = ResponseCache(clock=clock)
    cache.put("f", question(), respond(question()))
    assert cache.get(function, other_request) is None, why


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (Response(), "a function without an opinion is asked every time"),
        (fatal(question(), "broken"), "somebody may have mended what failed"),
    ],
)
def test_uncacheable_responses(clock, response, why) -> None:
    cache = ResponseCache(clock=clock)
    assert cache.put("f", question(), response).ttl is None
    assert cache.get("f", question()) is None, why


def test_answers_are_bounded_in_bytes_and_the_newest_stay(clock) -> None:
    cache = ResponseCache(clock=clock)
    large = State(Resource({"status": {"text": "x" * (4 << 20)}}))
    for number in range(20):
        cache.put("f", question(number), Response(large, ttl=60 * SECOND))
    cached = [number for number in range(20) if cache.get("f", question(number)) is not None]
    assert cached == list(range(20 - len(cached), 20))
    assert 10 <= len(cached) <= 16


def test_many_small_values_count_with_their_size_in_memory(clock) -> None:
    cache = ResponseCache(clock=clock)
    many = State(Resource({"status": {"items": [[]] * 100_000}}))
    for number in range(20):
        cache.put("f", question(number), Response(many, ttl=60 * SECOND))
    cached = [number for number in range(20) if cache.get("f", question(number)) is not None]
    assert 1 <= len(cached) <= 6


def test_an_answer_does_not_keep_its_question_in_memory(clock) -> None:
    cache = ResponseCache(clock=clock)
    request = question()
    cache.put("f", request, respond(request, ttl=10 * SECOND))
    cached = cache.get("f", question())
    assert cached is not None
    assert isinstance(cached.response.tag, str)


def test_a_changed_function_is_called_anew(clock) -> None:
    cache = ResponseCache(clock=clock)
    cache.put("f", question(), respond(question()))
    cache.clear()
    assert cache.get("f", question()) is None
