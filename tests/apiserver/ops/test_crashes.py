"""Killed under load, the server loses no acknowledged write (`tools/crash_test.py --server` runs longer)."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from types import ModuleType

import pytest

TOOL = os.path.join(os.path.dirname(__file__), "..", "..", "..", "tools", "crash_test.py")


def test_three_kills_under_sixteen_clients_lose_nothing() -> None:
    command = [sys.executable, TOOL, "--server", "--rounds", "3", "--writers", "16", "--seed", "1"]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert outcome.returncode == 0, outcome.stderr
    assert "all there" in outcome.stdout
    assert "without a gap" in outcome.stdout


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(os.path.dirname(TOOL))
    return importlib.import_module("crash_server")


def test_the_witness_detects_violations(tool: ModuleType) -> None:
    """A test that finds nothing is only worth something if it would find something."""
    remaining, lost = tool.State(7, "w1"), tool.State(6, "w0")
    witness = tool.Witness()
    witness.attempted["m"] = {"w1"}
    witness.answered("m", remaining)
    witness.check({"m": remaining}, 7)
    for listed, version in (
        ({}, 7),
        ({"m": lost}, 7),
        ({"m": remaining}, 6),
        ({"m": remaining, "n": lost}, 7),
    ):
        with pytest.raises(tool.Broken):
            witness.check(listed, version)
    with pytest.raises(tool.Broken, match="twice"):
        witness.answered("m", remaining)
    with pytest.raises(tool.Broken, match="never shown"):
        witness.check_watch()
    with pytest.raises(tool.Broken, match="does not follow"):
        witness.watch_event("MODIFIED", _object("m", 7))
    witness.watch_event("ADDED", _object("m", 7))
    witness.check_watch()
    with pytest.raises(tool.Broken, match="went back"):
        witness.watch_event("DELETED", _object("m", 5))


def _object(name: str, version: int) -> dict[str, object]:
    metadata = {"name": name, "uid": "u", "resourceVersion": str(version)}
    return {"metadata": metadata, "data": {"write": "w1", "again": "w1"}}
