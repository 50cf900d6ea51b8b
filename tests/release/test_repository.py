"""What strangers meet in the repository: workflows, templates and policies that fit the rest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from crossply.values import yaml
from tests.support.paths import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", ())]


@every_workflow
def test_a_workflow_has_no_rights_but_those_that_its_jobs_name(path: Path) -> None:
    workflow = yaml.load(path.read_bytes())
    assert workflow["permissions"] == {}
    jobs = workflow["jobs"].values()
    assert all("permissions" in job for job in jobs)
    assert all("timeout-minutes" in job for job in jobs if "steps" in job)


@every_workflow
def test_actions_are_pinned_by_commit_with_their_version_beside(path: Path) -> None:
    used = re.findall(r"uses: ([^.].+)", path.read_text())
    assert used
    for line in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


@every_workflow
def test_every_target_that_a_workflow_makes_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    commands = [step["run"] for step in steps(yaml.load(path.read_bytes())) if "run" in step]
    used_targets = set(re.findall(r"\bmake ([a-z-]+)", "\n".join(commands)))
    assert used_targets <= targets


def test_the_suite_runs_on_every_python_that_the_package_names() -> None:
    declared = re.findall(
        r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text()
    )
    workflow = yaml.load((GITHUB / "workflows" / "test.yml").read_bytes())
    assert workflow["jobs"]["suite"]["strategy"]["matrix"]["python"] == declared


def test_a_release_is_built_and_published_only_after_all_tests_passed() -> None:
    workflow = yaml.load((GITHUB / "workflows" / "release.yml").read_bytes())
    jobs = dict(workflow["jobs"])
    assert jobs.pop("test")["uses"] == "./.github/workflows/test.yml"
    assert jobs.pop("build")["needs"] == "test"
    assert jobs
    assert {job["needs"] for job in jobs.values()} == {"build"}


def test_no_job_that_publishes_uses_a_password() -> None:
    text = (GITHUB / "workflows" / "release.yml").read_text()
    assert "secrets." not in text
    assert "password" not in text.replace("instead of a password", "")


def test_directories_of_dependabot_exist() -> None:
    for update in yaml.load((GITHUB / "dependabot.yml").read_bytes())["updates"]:
        for directory in update.get("directories") or [update["directory"]]:
            assert (ROOT / directory.strip("/")).is_dir(), directory


def test_dependabot_updates_every_go_module() -> None:
    updates = yaml.load((GITHUB / "dependabot.yml").read_bytes())["updates"]
    [listed] = [update["directories"] for update in updates if update["package-ecosystem"] == "gomod"]
    modules = [path for folder in ("tests", "tools") for path in (ROOT / folder).rglob("go.mod")]
    assert sorted(listed) == sorted(f"/{path.parent.relative_to(ROOT)}" for path in modules)


def test_templates_of_issues_can_be_read() -> None:
    for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml"):
        assert yaml.load(path.read_bytes())
