"""How a plan is written for people."""

from __future__ import annotations

import pytest

from crossply.cli.framework.styling import Style
from crossply.cli.plan.text_output import Text
from crossply.control.planning.api_urls import ObjectKey
from crossply.control.planning.change_tree import CHANGE, CREATE, Node
from crossply.control.planning.dry_run_planner import Plan
from crossply.control.planning.field_changes import Unknown, fields_between
from crossply.control.planning.plan_entry_point import PlanResult


def deployment(*containers: dict) -> dict:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"containers": list(containers)},
    }


def lines_for(before: dict | None, after: dict) -> list[str]:
    key = ObjectKey("apps", "deployments", "", "web")
    node = Node(key, after, CHANGE if before else CREATE, fields=fields_between(before, after))
    return Text(PlanResult(Plan(roots=[node]), Unknown())).whole().splitlines()


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (
            deployment({"name": "app"}),
            ['  - spec.containers[app].name: "app"', '  + spec.containers[main].name: "main"'],
        ),
        (None, ['  + spec.containers[main].name: "main"']),
    ],
    ids=["renamed", "new"],
)
def test_an_item_of_a_list_that_has_only_a_name_is_shown(before: dict | None, expected: list[str]) -> None:
    lines = lines_for(before, deployment({"name": "main"}))
    assert [line for line in lines if "containers" in line] == expected


def test_colours_repeat_the_meaning_of_the_signs() -> None:
    key = ObjectKey("apps", "deployments", "", "web")
    result = PlanResult(Plan(roots=[Node(key, deployment(), CREATE)]), Unknown())
    colored = Text(result, Style(colored=True, decorated=True)).whole()
    assert "\x1b[32m+ Deployment web\x1b[0m\n" in colored
    assert "\x1b" not in Text(result).whole()
