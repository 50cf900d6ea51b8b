"""The GitHub action and the GitLab template, step by step: what they run, write and post."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from crossply.values import Object, yaml
from tests.support.docs.pages import ROOT

CI = ROOT / "deploy/ci"
NOTES = "/api/v4/projects/7/merge_requests/3/notes"


def loaded(name: str) -> Object:
    document = yaml.load((CI / name).read_text())
    assert isinstance(document, dict)
    return document


def run(command: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the text of a step, with the programs of this environment."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **variables}
    environment.pop("KUBECONFIG", None)
    return subprocess.run(
        ["bash", "-c", command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


class Notes(BaseHTTPRequestHandler):
    """What is posted to a GitLab, as path, token and body."""

    received: list[tuple[str, str | None, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.received.append((self.path, self.headers["PRIVATE-TOKEN"], body))
        self.send_response(201)
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Print nothing."""


@pytest.fixture
def gitlab() -> Iterator[tuple[str, list[tuple[str, str | None, Any]]]]:
    """The address of an API that takes notes, and the notes."""
    handler = type("Handler", (Notes,), {"received": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/api/v4", handler.received
        server.shutdown()


def test_the_gitlab_template_posts_the_report_to_the_merge_request(gitlab: Any, tmp_path: Path) -> None:
    url, notes = gitlab
    [command] = loaded("gitlab/gitlab-ci.yml")["crossply"]["after_script"]
    (tmp_path / "crossply-report.md").write_text("## Crossply\n")
    job = {"CI_API_V4_URL": url, "CI_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "3"}
    assert run(command, tmp_path, **job).returncode == 0
    assert notes == [], "without a token, nothing is posted"
    done = run(command, tmp_path, **job, GITLAB_NOTES_TOKEN="secret")
    assert done.returncode == 0, done.stderr
    assert notes == [(NOTES, "secret", {"body": "## Crossply\n"})]


def test_the_gitlab_template_runs_the_report(tmp_path: Path) -> None:
    *_, command = loaded("gitlab/gitlab-ci.yml")["crossply"]["script"]
    assert run(command, tmp_path, CROSSPLY_REPORT_SCRIPT=str(CI / "report.sh")).returncode == 0
    assert "Nothing to check" in (tmp_path / "crossply-report.md").read_text()


def test_the_github_action_writes_the_report_and_keeps_no_kubeconfig(tmp_path: Path) -> None:
    [step] = [step for step in loaded("github/action.yml")["runs"]["steps"] if step.get("id") == "report"]
    assert step["env"]["SCRIPT"] == "${{ github.action_path }}/../report.sh"
    temporary, repository = tmp_path / "temporary", tmp_path / "repository"
    temporary.mkdir()
    (repository / "apis").mkdir(parents=True)
    (repository / "apis/broken.yaml").write_text("a: [")
    done = run(
        step["run"],
        repository,
        SCRIPT=str(CI / "github/../report.sh"),
        KUBECONFIG_TEXT="apiVersion: v1",
        RUNNER_TEMP=str(temporary),
        GITHUB_OUTPUT=str(tmp_path / "output"),
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary"),
    )
    report = temporary / "crossply-report.md"
    assert done.returncode == 1, "the check fails"
    assert (tmp_path / "output").read_text() == f"report={report}\n"
    assert (tmp_path / "summary").read_text() == report.read_text()
    assert "### ❌ Check" in report.read_text()
    assert "### ❌ Plan" in report.read_text(), "the kubeconfig was there for the plan"
    assert list(temporary.iterdir()) == [report]
