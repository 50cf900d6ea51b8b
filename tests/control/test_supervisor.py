"""Supervised programs, with real processes."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from crossply.containers.log_file import LogFile
from crossply.control.runtimes.provider_process import ProcessProgram
from crossply.control.runtimes.supervisor import Pauses, Supervisor
from tests.support.patience import PATIENCE

QUICK = Pauses(first=0.05, longest=0.2, settled=0.2, longest_settled=0.2, poll=0.05)


async def until(condition):
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)


def notes(path) -> list[str]:
    return [line.split(" ", 2)[2] for line in path.read_text().splitlines() if line.startswith("crossply: ")]


class Supervised:
    """A supervised script, its output and the reported problems."""

    def __init__(self, directory, script: str, pauses: Pauses = QUICK) -> None:
        self.path, self.reported = directory / "logs" / "provider.log", []
        words = [sys.executable, "-c", script]
        self.supervisor = Supervisor(
            ProcessProgram(words, str(directory), {"GREETING": "hello"}),
            LogFile(str(self.path)),
            lambda: self.reported.append(self.supervisor.problem),
            pauses,
        )

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.supervisor.stop()


WAITS = "import os, time; print(os.environ['GREETING'], os.getpid(), flush=True); time.sleep(1000)"


def pids(supervised) -> list[int]:
    lines = supervised.path.read_text().splitlines() if supervised.path.exists() else []
    return [int(line.split()[1]) for line in lines if line.startswith("hello")]


async def test_a_killed_program_is_restarted_and_reported(tmp_path):
    async with Supervised(tmp_path, WAITS) as supervised:
        await until(lambda: supervised.supervisor.problem == "" and pids(supervised))
        os.kill(pids(supervised)[0], 9)
        await until(lambda: len(pids(supervised)) == 2 and supervised.supervisor.problem == "")
        assert "it ended with signal 9, it is started again in 0.05 s" in supervised.reported[1]
    await until(lambda: not os.path.exists(f"/proc/{pids(supervised)[-1]}"))
    assert notes(supervised.path)[-1] == "stopped"


async def test_the_last_output_of_a_program_is_part_of_the_problem(tmp_path):
    script = "import sys; print('no such database', file=sys.stderr); sys.exit(3)"
    async with Supervised(tmp_path, script) as supervised:
        await until(lambda: len(notes(supervised.path) if supervised.path.exists() else ()) >= 6)
        problem = supervised.supervisor.problem
    assert "it ended with exit status 3" in problem
    assert problem.endswith(": no such database")
    pauses = [note.rpartition(" in ")[2] for note in notes(supervised.path) if "ended" in note]
    assert pauses[:3] == ["0.05 s", "0.1 s", "0.2 s"]
    assert "" not in supervised.reported, "it never ran for long enough to be called running"


async def test_an_edit_of_its_python_files_restarts_a_program(tmp_path):
    source = tmp_path / "kinds.py"
    source.write_text("one = 1\n")
    async with Supervised(tmp_path, WAITS) as supervised:
        await until(lambda: supervised.supervisor.problem == "" and pids(supervised))
        source.write_text("one = 12\n")
        await until(lambda: len(pids(supervised)) == 2)
        assert f"{source} changed: it is restarted" in notes(supervised.path)
        assert supervised.reported == [""], "an edit is no failure"


async def test_a_command_that_does_not_exist_is_named(tmp_path):
    supervisor = Supervisor(ProcessProgram(["./absent"], str(tmp_path), {}), LogFile(""), lambda: None, QUICK)
    await until(lambda: "cannot start" in supervisor.problem)
    assert "./absent" in supervisor.problem
    await supervisor.stop()


NOTIFY = """
import os, socket, sys, time

def notify(state):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(state, os.environ["NOTIFY_SOCKET"].replace("@", "\\0"))

"""


async def test_a_program_that_reports_readiness_does_not_count_as_running_before(tmp_path):
    ready_file = tmp_path / "go on"
    script = NOTIFY + "notify(b'STATUS=starting'); print('hello', os.getpid(), flush=True)\n"
    script += f"while not os.path.exists({str(ready_file)!r}): time.sleep(0.01)\n"
    script += "notify(b'READY=1'); time.sleep(1000)"
    pauses = QUICK._replace(settled=1.0)
    async with Supervised(tmp_path, script, pauses) as supervised:
        await until(lambda: pids(supervised))
        await asyncio.sleep(1.2 * pauses.settled)
        assert supervised.supervisor.problem == "it is being started"
        ready_file.touch()
        await until(lambda: supervised.reported == [""])


async def test_a_program_that_ends_after_a_second_never_runs(tmp_path):
    pauses = QUICK._replace(settled=1.5, longest_settled=3.0)
    script = "import sys, time; print('no such database', flush=True); time.sleep(1); sys.exit(3)"
    async with Supervised(tmp_path, script, pauses) as supervised:
        await until(lambda: len(supervised.reported) >= 2)
        assert "" not in supervised.reported
        assert "it ended with exit status 3" in supervised.reported[0]
        assert supervised.reported[0].endswith(": no such database")


async def test_a_program_that_exited_once_has_to_run_longer_than_before(tmp_path):
    pauses = QUICK._replace(settled=1.0, longest_settled=30.0)
    script = NOTIFY + "notify(b'READY=1'); time.sleep(1); sys.exit(3)"
    async with Supervised(tmp_path, script, pauses) as supervised:
        await until(lambda: len(supervised.reported) >= 4)
        assert supervised.reported[0] == "", "it said that it was ready"
        assert "" not in supervised.reported[1:]


@pytest.mark.parametrize("lines", [10])
def test_a_log_that_is_full_keeps_its_newest_lines(tmp_path, lines):
    log = LogFile(str(tmp_path / "a" / "provider.log"), max_bytes=40)
    for number in range(lines):
        log.write(f"line {number} of a log\n")
    logs = [(tmp_path / "a" / name).read_text() for name in sorted(os.listdir(tmp_path / "a"))]
    assert "".join(reversed(logs)).splitlines()[-1] == f"line {lines - 1} of a log"
    assert sum(map(len, logs)) < 200


class SlowProgram:
    """A program that takes its time to start."""

    webhook_port, network_problem, says_when_ready = 9443, "", False

    def __init__(self) -> None:
        self.starting, self.go_on, self.stopped = asyncio.Event(), asyncio.Event(), False

    async def start(self, log):
        self.starting.set()
        await self.go_on.wait()
        return self

    async def wait(self):
        await asyncio.Event().wait()

    async def ready(self):
        await asyncio.Event().wait()

    async def stop(self):
        self.stopped = True

    def changed(self):
        return ""


async def test_a_program_that_is_stopped_while_it_starts_is_not_left_behind():
    program = SlowProgram()
    supervisor = Supervisor(program, LogFile(""), lambda: None, QUICK)
    await program.starting.wait()
    stopping = asyncio.create_task(supervisor.stop())
    await asyncio.sleep(0)
    program.go_on.set()
    await stopping
    assert program.stopped
