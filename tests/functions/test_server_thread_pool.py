"""The threads of a function's server: two are enough for quick calls, and a slow one delays no other."""

from __future__ import annotations

import threading
import time

import pytest

from crossply.functions.server_thread_pool import WorkerThreads


@pytest.fixture
def workers():
    workers = WorkerThreads(8)
    yield workers
    workers.shutdown()


def test_quick_work_is_done_by_two(workers):
    done = [workers.submit(pow, number, 2) for number in range(1000)]
    assert [future.result(30) for future in done] == [number**2 for number in range(1000)]
    assert workers.threads() == 2


def test_waiting_work_delays_no_other(workers):
    opened = threading.Event()
    waiting = [workers.submit(opened.wait, 30) for _ in range(6)]
    assert workers.submit(str, 1).result(30) == "1"
    assert workers.threads() > 6
    opened.set()
    assert all(future.result(30) for future in waiting)


def test_there_are_never_more_than_may_be(workers):
    opened = threading.Event()
    waiting = [workers.submit(opened.wait, 30) for _ in range(20)]
    while workers.threads() < 8:
        time.sleep(0.01)
    time.sleep(0.1)  # in which more would have come
    assert workers.threads() == 8
    opened.set()
    assert all(future.result(30) for future in waiting)


def test_those_that_came_later_go_when_they_have_nothing_to_do(workers, monkeypatch):
    monkeypatch.setattr("crossply.functions.server_thread_pool._IDLE", 0.05)
    opened = threading.Event()
    waiting = [workers.submit(opened.wait, 30) for _ in range(6)]
    assert workers.submit(str, 1).result(30) == "1"
    opened.set()
    assert all(future.result(30) for future in waiting)
    while workers.threads() > 2:
        time.sleep(0.01)
    assert workers.submit(str, 2).result(30) == "2"


def test_exceptions_of_work_are_raised_and_the_thread_lives_on(workers):
    for _ in range(10):
        with pytest.raises(ZeroDivisionError):
            workers.submit(divmod, 1, 0).result(30)
    assert workers.submit(str, 1).result(30) == "1"


def test_closing_finishes_queued_work_and_stops_the_threads():
    workers = WorkerThreads(8)
    started, opened = threading.Event(), threading.Event()

    def work():
        started.set()
        opened.wait(30)
        return threading.current_thread()

    running = workers.submit(work)
    assert started.wait(30)
    workers.shutdown()
    opened.set()
    thread = running.result(30)
    thread.join(30)
    assert not thread.is_alive()
    with pytest.raises(RuntimeError, match="after the end"):
        workers.submit(str, 1)
