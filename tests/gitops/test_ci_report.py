"""The report for pull requests: results of a platform repository's check, tests, validation and plan."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.docs.pages import ROOT

SCRIPT = ROOT / "deploy/ci/report.sh"


def crossply(*words: str, cwd: Path) -> None:
    subprocess.run(
        [sys.executable, "-P", "-m", "crossply.cli", *words], cwd=cwd, check=True, capture_output=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A platform repository as `crossply new project` makes it."""
    crossply("new", "project", "platform", cwd=tmp_path)
    program = tmp_path / "bin/crossply"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom crossply.cli.main import entry\nentry()\n")
    program.chmod(0o755)
    return tmp_path / "platform"


def annotations(repository: Path) -> str:
    """What the script prints where GitHub runs it."""
    return _run(repository, GITHUB_ACTIONS="true").stdout


def report(repository: Path, **variables: str) -> tuple[int, str]:
    done = _run(repository, **variables)
    return done.returncode, (repository / "report.md").read_text()


def _run(repository: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{repository.parent / 'bin'}:{os.environ['PATH']}"
    # The packages that apis/crossplane.yaml names are not to be fetched.
    environment = {**os.environ, "PATH": path, "CROSSPLY_SCHEMAS": "apis/apps", **variables}
    if "KUBECONFIG" not in variables:
        environment.pop("KUBECONFIG", None)
    command = ["bash", str(SCRIPT), "report.md"]
    done = subprocess.run(
        command, cwd=repository, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done


def test_a_repository_whose_tests_pass_gets_a_good_report(repository: Path) -> None:
    code, text = report(repository)
    assert code == 0
    assert "### ✅ Check" in text
    assert "### ✅ Tests" in text
    assert "### ✅ Validation" in text
    assert "Plan" not in text


def test_a_failing_test_fails_the_report_and_is_shown(repository: Path) -> None:
    composition = repository / "apis/apps/composition.yaml"
    composition.write_text(composition.read_text().replace("spec.replicas", "spec.minReadySeconds"))
    code, text = report(repository)
    assert code == 1
    assert "### ❌ Tests" in text
    assert "✗ " in text


def test_a_failing_check_fails_the_report_and_is_annotated_on_github(repository: Path) -> None:
    example = repository / "examples/app.yaml"
    example.write_text(example.read_text().replace("image:", "picture:"))
    code, text = report(repository, CROSSPLY_RESOURCES="none", CROSSPLY_SCHEMAS="")
    assert code == 1
    assert "### ❌ Check" in text
    assert "examples/app.yaml:7: error:" in text
    assert "::error file=examples/app.yaml,line=7," in annotations(repository)


def test_an_empty_repository_has_nothing_to_check(repository: Path) -> None:
    for name in ("tests", "apis", "examples"):
        (repository / name).rename(repository / f"no-{name}")
    code, text = report(repository, CROSSPLY_SCHEMAS="")
    assert (code, "Nothing to check" in text) == (0, True)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[str]:
    data = tmp_path / "control-plane"
    crossply("up", "--detach", "--data", str(data), cwd=tmp_path)
    yield str(data / "kubeconfig")
    crossply("down", "--data", str(data), cwd=tmp_path)


def test_the_plan_of_a_change_is_shown_and_is_no_failure(repository: Path, kubeconfig: str) -> None:
    code, text = report(repository, KUBECONFIG=kubeconfig, CROSSPLY_PLAN="apis/apps")
    assert "### ✅ Plan" in text
    assert "apps.example.org" in text
    assert code == 0
