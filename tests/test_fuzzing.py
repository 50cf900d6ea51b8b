"""Input that once failed, and some random input, is read or refused (`make fuzz` tries much more)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOL = ROOT / "tools" / "fuzz.py"
CORPUS = ROOT / "tests" / "fuzz_corpus"


def fuzz(directory: Path, *arguments: str) -> str:
    command = [sys.executable, str(TOOL), *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_input_that_once_failed_is_read_or_refused(tmp_path: Path) -> None:
    count = len(list(CORPUS.glob("*.json")))
    assert count > 5
    assert fuzz(tmp_path, "--replay", str(CORPUS)).startswith(f"{count} inputs for ")


def test_random_input_is_read_or_refused_within_its_bounds(tmp_path: Path) -> None:
    printed = fuzz(tmp_path, "600", "1", "--inputs", "15")
    assert " 0 failed\n" in printed


def test_a_failure_is_detected_and_its_input_saved(tmp_path: Path) -> None:
    """The fuzzer itself: without its definition of a target, what it keeps could not be replayed."""
    (tmp_path / "broken.json").write_text(json.dumps({"target": "json", "input": 5}))
    command = [sys.executable, str(TOOL), "--replay", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert "FAILED json, case broken.json" in done.stdout
