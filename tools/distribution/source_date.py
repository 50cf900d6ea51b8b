"""The time that everything in a published file has, so that the same sources give the same bytes."""

from __future__ import annotations

import os
import subprocess

from distribution.paths import ROOT

EARLIEST = 315532800
"""1980-01-01, the first time that a zip archive can hold."""


def source_date() -> int:
    """SOURCE_DATE_EPOCH, or the time of the last commit, or 1980 in a source archive without git."""
    configured = os.environ.get("SOURCE_DATE_EPOCH")
    if configured:
        return int(configured)
    command = ["git", "-C", ROOT, "log", "-1", "--format=%ct"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return EARLIEST
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else EARLIEST
