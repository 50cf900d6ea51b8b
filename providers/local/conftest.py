"""Puts the provider's modules on the path, and gives tests a root of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that the operator gave to the provider."""
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.setenv("CROSSPLY_LOCAL_ROOT", str(root))
    # Other tests on this machine, and a quick start, have other ports.
    first = 20000 + os.getpid() % 500 * 20
    monkeypatch.setenv("CROSSPLY_LOCAL_PORTS", f"{first}-{first + 19}")
    return root
