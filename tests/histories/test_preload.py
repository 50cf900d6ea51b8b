"""The library for faults moves the wall clock and slows syncs of a process while it runs."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from tests.histories.preload import Preload
from tests.support.programs import needs

pytestmark = needs("gcc")

SHOW = "import os, sys, time\nfor line in sys.stdin: print(eval(line), flush=True)"
DAY = 86_400


@contextmanager
def _python(preload: Preload) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-u", "-c", SHOW]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=preload.environment()
    ) as process:
        yield process


def _eval(process: subprocess.Popen[str], expression: str) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{expression}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def test_the_wall_clock_of_a_running_process_jumps_and_comes_back(tmp_path: pathlib.Path) -> None:
    preload = Preload(tmp_path)
    assert preload.works()
    with _python(preload) as process:
        offsets = []
        for jump in (0, DAY, -DAY, 0):
            preload.set_clock(jump)
            offsets.append(round((_eval(process, "time.time()") - datetime.now(UTC).timestamp()) / DAY))
        assert offsets == [0, 1, -1, 0]


def test_the_monotonic_clock_does_not_jump(tmp_path: pathlib.Path) -> None:
    preload = Preload(tmp_path)
    with _python(preload) as process:
        before = _eval(process, "time.monotonic()")
        preload.set_clock(DAY)
        assert _eval(process, "time.monotonic()") - before < DAY / 2


def test_a_sync_takes_at_least_as_long_as_it_is_delayed(tmp_path: pathlib.Path) -> None:
    preload = Preload(tmp_path)
    preload.set_sync_delay(0.2)
    (tmp_path / "file").write_text("x")
    synced = f"os.fsync(os.open({str(tmp_path / 'file')!r}, os.O_RDONLY))"
    with _python(preload) as process:
        assert _eval(process, f"-time.monotonic() + ({synced} or time.monotonic())") >= 0.2
