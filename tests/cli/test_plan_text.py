"""How a plan is written for people."""

from __future__ import annotations

import pytest

from crossply.cli.plan.text_output import Text
from crossply.control.planning.fields import Unknown, fields_between
from crossply.control.planning.plan import Plan
from crossply.control.planning.run import Told
from crossply.control.planning.tree import CHANGE, CREATE, Node
from crossply.control.planning.what_if_addresses import Key


def deployment(*containers: dict) -> dict:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"containers": list(containers)},
    }


def lines_for(before: dict | None, after: dict) -> list[str]:
    key = Key("apps", "deployments", "", "web")
    node = Node(key, after, CHANGE if before else CREATE, fields=fields_between(before, after))
    return Text(Told(Plan(roots=[node]), Unknown()), colored=False).whole().splitlines()


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
