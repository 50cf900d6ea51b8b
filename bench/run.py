"""All benchmarks, one after the other: figures beside the yardstick of this machine, never an assertion."""

from __future__ import annotations

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NOT_BENCHMARKS = {
    "run",
    "machine",
    "workload",
    "processes",
    "control_floor",
    "control_servers",
    "control_workload",
}


def main() -> int:
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    for name in names:
        print(f"== {name}", flush=True)
        done = subprocess.run([sys.executable, str(HERE / f"{name}.py")], cwd=HERE, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
