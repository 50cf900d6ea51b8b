"""What `make run` does, done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from crossply.cli.up_lock import is_locked

ROOT = Path(__file__).parents[2]
CROSSPLY = str(Path(sys.executable).parent / "crossply")


def test_the_quick_start_becomes_ready_and_can_be_stopped(tmp_path: Path) -> None:
    environment = {**os.environ, "CROSSPLY_QUICK_START_DATA": str(tmp_path)}
    try:
        done = subprocess.run(
            [sys.executable, str(ROOT / "tools" / "quickstart.py")],
            capture_output=True,
            text=True,
            timeout=120,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Site hello is Ready. It is made of:\n  ConfigMap hello-" in done.stdout
    finally:
        stopped = subprocess.run([CROSSPLY, "down", "--data", str(tmp_path)], timeout=60, check=False)
    assert stopped.returncode == 0
    assert not is_locked(str(tmp_path))
