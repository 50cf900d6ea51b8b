"""Answers of functions on disk: found again after a restart, sealed, bounded, and void once they are over."""

from __future__ import annotations

import asyncio
import os
import stat
import time

import pytest

from crossply.compose.function_messages import SECOND, Request, Resource, Response, State
from crossply.control.calls.pipeline_function_calls import PipelineFunctions
from crossply.control.calls.response_cache import ResponseCache
from crossply.control.calls.response_store import ResponseStore, ResponseStoreSettings
from crossply.control.calls.runner_factory import RunnerFactory
from crossply.kinds.composition import Step
from tests.support.control.function_revisions import revision

FUNCTION = "function-x-0123456789ab"
TAG, OTHER = "a" * 64, "b" * 64
CANARY = "correct-horse-battery-staple"
REQUEST = Request(State(Resource({"kind": "XR"})))
ANSWER = Response(State(Resource({"status": {"said": CANARY}})), context={"k": CANARY}, ttl=60 * SECOND)


class Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


def store_in(tmp_path, clock=None, secret=b"a private key", **settings):
    return ResponseStore(ResponseStoreSettings(str(tmp_path), **settings), lambda: secret, clock or Clock())


def files(tmp_path):
    return sorted(path for path in tmp_path.rglob("*") if path.is_file())


def test_an_answer_survives_a_restart(tmp_path):
    store_in(tmp_path).put(FUNCTION, TAG, REQUEST, ANSWER, 60.0)
    response, seconds = store_in(tmp_path).get(FUNCTION, TAG)
    assert response == ANSWER._replace(tag=TAG)
    assert seconds == 60.0


def test_only_we_can_read_it(tmp_path):
    """fn-cred-leak: a response may contain the credentials of its request."""
    store_in(tmp_path).put(FUNCTION, TAG, REQUEST, ANSWER, 60.0)
    [path] = files(tmp_path)
    assert path == tmp_path / FUNCTION / TAG
    assert CANARY.encode() not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert store_in(tmp_path, secret=b"another key").get(FUNCTION, TAG) is None


def test_responses_to_requests_with_credentials_are_not_stored(tmp_path):
    """fn-cred-leak: not even sealed."""
    request = Request(State(Resource({"kind": "XR"})), credentials={"login": {"password": CANARY.encode()}})
    store_in(tmp_path).put(FUNCTION, TAG, request, ANSWER, 60.0)
    assert files(tmp_path) == []


def test_an_expired_response_is_a_miss_and_is_then_removed(tmp_path):
    clock = Clock()
    store = store_in(tmp_path, clock)
    store.put(FUNCTION, TAG, REQUEST, ANSWER, 60.0)
    clock.now += 61
    assert store.get(FUNCTION, TAG) is None
    store.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("longest", "seconds"), [(10.0, 10.0), (0.0, 60.0), (86_400.0, 60.0)])
def test_a_response_is_stored_no_longer_than_allowed(tmp_path, longest, seconds):
    store = store_in(tmp_path, max_ttl=longest)
    store.put(FUNCTION, TAG, REQUEST, ANSWER, 60.0)
    assert store.get(FUNCTION, TAG)[1] == seconds


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda data: b"", "nothing is left"),
        (lambda data: data[:-1], "the end is missing"),
        (lambda data: data[:30] + bytes([data[30] ^ 1]) + data[31:], "a bit has flipped"),
        (lambda data: (2**62).to_bytes(8, "big") + data[8:], "somebody wants it to last"),
    ],
)
def test_a_damaged_file_is_as_good_as_none(tmp_path, damage, why):
    store = store_in(tmp_path)
    store.put(FUNCTION, TAG, REQUEST, ANSWER, 60.0)
    [path] = files(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    assert store.get(FUNCTION, TAG) is None, why


def test_an_answer_cannot_be_put_in_the_place_of_another(tmp_path):
    store = store_in(tmp_path)
    store.put(FUNCTION, TAG, REQUEST, ANSWER, 60.0)
    os.rename(tmp_path / FUNCTION / TAG, tmp_path / FUNCTION / OTHER)
    assert store.get(FUNCTION, OTHER) is None


def test_there_are_never_more_bytes_than_allowed_and_those_that_end_first_go(tmp_path):
    store = store_in(tmp_path, max_bytes=1000)
    for number in range(20):
        store.put(FUNCTION, f"{number:064x}", REQUEST, ANSWER, 60.0 + number)
    store.collect()
    left = files(tmp_path)
    assert sum(path.stat().st_size for path in left) <= 1000
    assert f"{19:064x}" in {path.name for path in left}
    assert f"{0:064x}" not in {path.name for path in left}


@pytest.mark.parametrize(("function", "tag"), [("../up", TAG), ("", TAG), (FUNCTION, ""), (FUNCTION, "../x")])
def test_names_that_are_none_lead_nowhere(tmp_path, function, tag):
    store = store_in(tmp_path / "in")
    store.put(function, tag, REQUEST, ANSWER, 60.0)
    assert store.get(function, tag) is None
    assert files(tmp_path) == []


def test_a_directory_that_cannot_be_written_is_no_harm(tmp_path):
    (tmp_path / "file").write_text("in the way")
    store = store_in(tmp_path / "file")
    store.put(FUNCTION, TAG, REQUEST, ANSWER, 60.0)
    assert store.get(FUNCTION, TAG) is None
    store.collect()


def test_responses_in_memory_are_on_disk_after_a_restart_if_the_function_has_a_revision(tmp_path):
    store = store_in(tmp_path)
    before, after = ResponseCache(store), ResponseCache(store)
    before.put("way", REQUEST, ANSWER, FUNCTION)
    cached = after.get("way", REQUEST, FUNCTION)
    assert cached.response.context == ANSWER.context
    assert 0 < cached.ttl <= 60
    before.put("by its annotations", REQUEST, ANSWER)
    assert after.get("by its annotations", REQUEST) is None


class Counting:
    """Counts the calls of a function."""

    def __init__(self):
        self.calls = 0

    def __call__(self, request, timeout):
        self.calls += 1
        return ANSWER

    def close(self):
        pass


def test_a_restarted_control_plane_reuses_stored_responses(tmp_path):
    runner = Counting()

    def ask(number):
        factory = RunnerFactory(cache=ResponseCache(store_in(tmp_path, time.time)))
        factory.register_scheme("test", lambda endpoint: runner)
        functions = PipelineFunctions(factory=factory)
        functions.put_revision(revision(number, endpoint=f"test:///f-{number}"))
        try:
            return asyncio.run(functions.call(Step("s", "f"), REQUEST)).response.context
        finally:
            functions.close()

    assert ask(1) == ask(1) == ANSWER.context
    assert runner.calls == 1
    ask(2)
    assert runner.calls == 2, "another revision may say something else"
