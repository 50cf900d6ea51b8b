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
    with tempfile.TemporaryDirectory() as cache:
        code = pytest(cache, arguments)
        failed = last_failed(cache)
        if code != TESTS_FAILED or not 0 < len(failed) <= MOST_FLAKY:
            return code
        print(f"\n{len(failed)} FAILED; they are run once more by themselves", flush=True)
        options = [argument for argument in arguments if argument.startswith("--server")]
        code = pytest(cache, [*options, *failed])
        flaky = sorted(set(failed) - set(last_failed(cache)))
    print("\n".join(f"FLAKY: {test} failed once and passed alone" for test in flaky), flush=True)
    return code


def pytest(cache: str, arguments: list[str]) -> int:
    command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *arguments]
    return subprocess.run(command, check=False).returncode


def last_failed(cache: str) -> list[str]:
    try:
        return list(json.loads(pathlib.Path(cache, "v/cache/lastfailed").read_text()))
    except FileNotFoundError:
        return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
