"""Whatever fails below the store, it keeps its word (`make store-faults` tries every fault in turn)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.programs import needs

TOOL = Path(__file__).parents[3] / "tools" / "store_faults.py"
CANNOT_TRACE = 77


def try_sample(kind: str) -> None:
    command = [sys.executable, str(TOOL), "--quick", "--seed", "1", "--only", kind]
    exit_code = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if exit_code.returncode == CANNOT_TRACE:
        pytest.skip(exit_code.stdout.strip())
    assert exit_code.returncode == 0, exit_code.stdout + exit_code.stderr
    assert exit_code.stdout.endswith("; 0 broken\n")


@needs("strace")
def test_a_system_call_that_fails_costs_no_acknowledged_write() -> None:
    try_sample("calls")


@needs("strace")
def test_a_kill_in_a_write_compaction_checkpoint_backup_or_restore_costs_no_acknowledged_write() -> None:
    try_sample("kills")


def test_a_shortage_of_memory_costs_no_acknowledged_write() -> None:
    try_sample("memory")


def test_damaged_files_are_refused_or_have_exactly_the_acknowledged_writes() -> None:
    try_sample("damage")
