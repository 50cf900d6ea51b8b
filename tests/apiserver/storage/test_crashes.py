"""Killed at random under load, the store loses no acknowledged write (`tools/crash_test.py` runs longer)."""

from __future__ import annotations

import os
import subprocess
import sys

TOOL = os.path.join(os.path.dirname(__file__), "..", "..", "..", "tools", "crash_test.py")


def test_twenty_kills_lose_no_acknowledged_write() -> None:
    command = [sys.executable, TOOL, "--rounds", "20", "--writers", "16", "--seed", "1"]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert outcome.returncode == 0, outcome.stderr
    assert "acknowledged writes all there" in outcome.stdout
