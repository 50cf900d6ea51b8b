"""Run pytest, and run what failed once more by itself: `run_tests.py [pytest arguments]`.

A test that fails among thousands on a busy machine and passes alone is flaky. It is listed at the end: it
is a bug to mend, but it does not hide the result of the others. A test that fails twice fails the run.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile

TESTS_FAILED = 1
MOST_FLAKY = 10
"""With more failures than this, something is broken, and a second run would only take time."""


def main(arguments: list[str]) -> int:
    code, failed = pytest(arguments)
    if code != TESTS_FAILED or not 0 < len(failed) <= MOST_FLAKY:
        return code
    print(f"\n{len(failed)} FAILED; they are run once more by themselves", flush=True)
    options = [argument for argument in arguments if argument.startswith("--server")]
    code, failed_twice = pytest([*options, *sorted(failed)])
    flaky = sorted(failed - failed_twice)
    print("\n".join(f"FLAKY: {test} failed once and passed alone" for test in flaky), flush=True)
    return code


def pytest(arguments: list[str]) -> tuple[int, set[str]]:
    """The exit code, and which tests failed."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *arguments]
        code = subprocess.run(command, check=False).returncode
        record = pathlib.Path(cache, "v/cache/lastfailed")
        failed = json.loads(record.read_text()) if record.exists() else ()
    return code, {without_group(test) for test in failed}


def without_group(test: str) -> str:
    """The id of a test without the `@group` that pytest-xdist adds to it."""
    name, _, group = test.rpartition("@")
    return name if name and "]" not in group else test


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
