"""Work that takes too long raises, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from crossply.functions.time_limit import TimeLimit, TimeLimitReached


def spin() -> None:
    while True:
        pass


def test_endless_work_ends() -> None:
    limit = TimeLimit()
    with pytest.raises(TimeLimitReached):
        limit.run(0.1, spin)
    assert limit.running() == 0
    limit.close()


def test_work_that_ends_in_time_is_left_alone() -> None:
    limit = TimeLimit()
    assert limit.run(30, lambda: "done") == "done"
    limit.close()


def test_an_interruption_that_comes_late_arrives_in_no_other_code() -> None:
    limit = TimeLimit()
    calm = []

    def call() -> None:
        for _ in range(5):
            try:
                limit.run(0.0, lambda: time.sleep(0.6))
            except TimeLimitReached:
                continue
        calm.append(True)
        for _ in range(1000):
            pass
        calm.append(True)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(30)
    assert calm == [True, True]
    limit.close()


AFTERWARDS = """
import sys
from crossply.functions.time_limit import TimeLimit, TimeLimitReached
def spin():
    while True:
        pass
def traced():
    return "traced"
limit = TimeLimit()
try:
    limit.run(0.1, spin)
except TimeLimitReached:
    pass
sys.settrace(lambda *_: None)
print(traced())
"""


def test_code_can_be_traced_after_an_interruption() -> None:
    done = subprocess.run([sys.executable, "-c", AFTERWARDS], capture_output=True, text=True, timeout=60)
    assert done.stdout == "traced\n", done.stderr
