"""Directories of the repository that tests read."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
CACHE = ROOT / ".cache"
"""Built artifacts that are cached between runs."""
CLUSTER = TESTS / "cluster"
"""The scripts that build and start programs of Kubernetes."""
