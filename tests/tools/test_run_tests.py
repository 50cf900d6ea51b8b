"""What failed is run once more by itself: flaky tests are listed, broken ones fail the run."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "run_tests.py"
PASSING = "def test_passes(): pass\n"
FAILING = "def test_fails(): assert False\n"
FLAKY = """
import pathlib

def test_fails_once():
    mark = pathlib.Path("failed-before")
    if not mark.exists():
        mark.touch()
        raise AssertionError
"""


@pytest.mark.parametrize(
    ("tests", "code", "expected", "is_repeated"),
    [
        pytest.param(PASSING, 0, "1 passed", False, id="nothing failed, so nothing is repeated"),
        pytest.param(PASSING + FLAKY, 0, "FLAKY: test_it.py::test_fails_once", True, id="flaky"),
        pytest.param(
            FLAKY + FAILING, 1, "FLAKY: test_it.py::test_fails_once", True, id="one of two is broken"
        ),
        pytest.param("import nothing_like_this\n", 2, "nothing_like_this", False, id="an import error"),
        pytest.param(
            "import pytest\n@pytest.mark.parametrize('n', range(11))\ndef test_fails(n): assert False\n",
            1,
            "11 failed",
            False,
            id="too many failures to be flaky",
        ),
    ],
)
def test_failed_tests_are_rerun_alone(tmp_path, tests, code, expected, is_repeated):
    (tmp_path / "pytest.ini").touch()
    (tmp_path / "test_it.py").write_text(tests)
    command = [sys.executable, str(TOOL), "-q", "-p", "no:xdist"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    assert expected in result.stdout
    assert ("run once more" in result.stdout) == is_repeated


GROUPED = """
import os
import pathlib
import pytest

pytestmark = pytest.mark.xdist_group("one")

@pytest.mark.parametrize("number", range(6))
def test_records_its_worker(number):
    pathlib.Path(f"worker-{os.environ['PYTEST_XDIST_WORKER']}").touch()
    if number == 5 and not pathlib.Path("failed-before").exists():
        pathlib.Path("failed-before").touch()
        raise AssertionError
"""


def test_a_group_runs_on_one_worker_and_its_flaky_test_is_rerun_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "none")
    (tmp_path / "pytest.ini").touch()
    (tmp_path / "test_it.py").write_text(GROUPED)
    command = [sys.executable, str(TOOL), "-q", "-n", "2", "--dist", "loadgroup"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "FLAKY: test_it.py::test_records_its_worker[5] failed once" in result.stdout
    workers = sorted(path.name for path in tmp_path.glob("worker-*"))
    assert workers in (["worker-gw0", "worker-none"], ["worker-gw1", "worker-none"])
