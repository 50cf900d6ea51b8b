"""Progress is shown on terminals, after a while, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys

from tests.support.terminal import terminal

PROGRAM = """
import os, sys, time
from crossply.cli.framework.command import Invocation
from crossply.cli.framework.progress import progress
streams = dict(stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr)
invocation = Invocation("x", {}, environ=os.environ, config={}, **streams)
with progress(invocation, "baking") as line:
    line.count(1, 2, "cakes")
    if sys.argv[1] == "slow":
        sys.stdin.readline()
        with line.hidden():
            print("a cake")
        sys.stdin.readline()
print("done")
"""
SLOW = [sys.executable, "-c", PROGRAM, "slow"]


def test_a_long_step_is_shown_and_removed() -> None:
    with terminal(SLOW) as shown:
        shown.wait_for("⠙ baking: 1 of 2 cakes")
        shown.type("\n")
        shown.wait_for("a cake")
        shown.wait_for(lambda text: text.splitlines()[-1].endswith("baking: 1 of 2 cakes"))
        shown.type("\n")
        assert shown.finish() == 0
        assert [line for line in shown.screen.text.splitlines() if line] == ["a cake", "done"]


def test_nothing_is_shown_for_quick_steps_or_on_dumb_terminals() -> None:
    with terminal([*SLOW[:-1], "quick"]) as shown:
        assert shown.finish() == 0
        assert shown.written == "done\r\n"
    with terminal(SLOW, {"TERM": "dumb"}) as shown:
        shown.type("\n\n")
        assert shown.finish() == 0
        assert "baking" not in shown.written


def test_a_file_gets_no_progress() -> None:
    done = subprocess.run(SLOW, input=b"\n\n", capture_output=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == (b"a cake\ndone\n", b"")
