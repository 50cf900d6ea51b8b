"""Alert rules and the board of Grafana: valid, about metrics that exist, and explained in the runbook."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crossply.provider.managed_metrics import ALL as PROVIDER_METRICS
from crossply.record.control_plane_metrics import ALL as CONTROL_PLANE_METRICS
from crossply.record.process_metrics import process_families
from crossply.values import yaml
from tests.support.docs.pages import ROOT, anchors, read
from tests.support.programs import path_of

MONITORING = ROOT / "deploy/chart/monitoring"
RULES = MONITORING / "alerts.yaml"
BOARD = MONITORING / "grafana-board.json"
TESTS = ROOT / "tests/deploy/monitoring/alerts_test.yaml"
SITE = "https://crossply.dev/"
_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+){2,}\b")
_SUFFIX = re.compile(r"_(bucket|sum|count)$")
_NO_METRICS = {"function_name", "group_left", "min_over_time"}
"""Labels and words of the query language."""


def promtool(*words: str | Path) -> str:
    done = subprocess.run([path_of("promtool"), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def alerts() -> list[dict[str, Any]]:
    groups = yaml.read_first(RULES.read_text()).value["groups"]
    return [rule for group in groups for rule in group["rules"]]


def board_expressions() -> list[str]:
    panels = json.loads(BOARD.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", ())]


def known_metrics() -> set[str]:
    return {family.name for family in (*CONTROL_PLANE_METRICS, *PROVIDER_METRICS, *process_families())}


def test_prometheus_accepts_the_rules() -> None:
    assert f"{len(alerts())} rules found" in promtool("check", "rules", RULES)


def test_every_rule_fires_when_it_should_and_not_otherwise() -> None:
    assert "SUCCESS" in promtool("test", "rules", TESTS)


def test_prometheus_accepts_the_expressions_of_the_board(tmp_path: Path) -> None:
    expressions = [text.replace("$controller", ".*") for text in board_expressions()]
    rules = [{"record": f"board:{number}", "expr": text} for number, text in enumerate(expressions)]
    file = tmp_path / "board.yaml"
    file.write_text(yaml.dump({"groups": [{"name": "board", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", file)


def test_rules_and_board_use_metrics_that_exist() -> None:
    texts = [rule["expr"] for rule in alerts()] + board_expressions()
    used = {_SUFFIX.sub("", name) for text in texts for name in _NAME.findall(text)} - _NO_METRICS
    assert used
    assert used <= known_metrics()


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_every_alert_has_a_section_in_the_runbook(rule: dict[str, Any]) -> None:
    address, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    page = ROOT / "docs" / f"{address.removeprefix(SITE).rstrip('/')}.md"
    assert anchor in anchors(read(page))


def test_the_board_is_up_to_date() -> None:
    command = [sys.executable, ROOT / "tools/grafana_board.py", "--check"]
    assert subprocess.run(command, check=False).returncode == 0
