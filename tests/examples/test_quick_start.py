"""What `make run` does, done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from crossply.cli.up.lock import is_locked
from tests.support.programs import needs

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


@needs("kubectl")
def test_the_commands_of_the_readme_apply_it_by_hand(tmp_path: Path) -> None:
    example = ROOT / "examples" / "00-quick-start"
    lines = (example / "README.md").read_text().splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ kubectl ")]
    assert commands
    environment = {**os.environ, "KUBECONFIG": str(tmp_path / "kubeconfig")}
    try:
        up = [CROSSPLY, "up", "--detach", "--data", str(tmp_path)]
        subprocess.run(up, check=True, timeout=120, capture_output=True)
        for command in [*commands, "kubectl wait --for=condition=Ready --timeout=60s -f xr.yaml"]:
            done = subprocess.run(
                command.split(),
                cwd=example,
                env=environment,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, f"{command}: {done.stderr}"
    finally:
        subprocess.run([CROSSPLY, "down", "--data", str(tmp_path)], timeout=60, check=False)
