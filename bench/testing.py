"""What tests cost: how long a suite of 200 cases takes, and how soon a control plane of a test is ready.

The yardstick is a start of Python on the same machine in the same run. Prints figures only.
"""

from __future__ import annotations

import pathlib
import statistics
import subprocess
import sys
import tempfile

from machine import bare_python_ms, command_ms

CASES = 200
CROSSPLY = str(pathlib.Path(sys.executable).with_name("crossply"))
READY = """
import tempfile, time
import pytest
begun = time.perf_counter()
from crossply.pytest_plugin import _started
with _started(tempfile.mkdtemp()):
    print(time.perf_counter() - begun)
"""


def main() -> None:
    bare = bare_python_ms()
    print(f"bare Python: {bare:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        single, many = _suite_ms(folder, 1), _suite_ms(folder, CASES)
    per_case = (many - single) / (CASES - 1)
    print(f"crossply test, 1 case: {single:.0f} ms ({single / bare:.1f} x)")
    print(f"crossply test, {CASES} cases of two rounds: {many:.0f} ms, {per_case:.2f} ms a case")
    print(f"control_plane: loaded and ready in {statistics.median(_plane() for _ in range(5)):.2f} s")


def _suite_ms(folder: str, cases: int) -> float:
    subprocess.run([CROSSPLY, "new", "project", "p", "--force"], cwd=folder, check=True, capture_output=True)
    suite = pathlib.Path(folder, "p", "tests", "apps_test.yaml")
    text = suite.read_text()
    head, first = text.split("  - name: is ready when the Deployment is\n")
    head = head.split("  - name:")[0]
    body = first.split("\n  - name:")[0]
    suite.write_text(head + "".join(f"  - name: case {n}\n{body}\n" for n in range(cases)))
    return command_ms([CROSSPLY, "test", "p"], rounds=5, cwd=folder)


def _plane() -> float:
    done = subprocess.run([sys.executable, "-c", READY], capture_output=True, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    main()
