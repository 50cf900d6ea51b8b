"""The state of an object in one word."""

import pytest

from crossply.ui.object_state_and_row import DELETING, FAILING, PAUSED, PRESENT, READY, WAITING, row_of
from crossply.ui.object_yaml import shown_yaml, without_secret_values
from tests.support import ui_world as world


def thing(*conditions, **metadata):
    return {"metadata": {"name": "a", **metadata}, "status": {"conditions": list(conditions)}}


@pytest.mark.parametrize(
    ("obj", "state", "why"),
    [
        (thing(*world.READY), READY, "ready and synced"),
        (thing(*world.WAITING), WAITING, "synced, but not ready"),
        (thing(*world.FAILING), FAILING, "not synced"),
        (thing(world.condition("Healthy", "False")), FAILING, "an unhealthy package fails"),
        (thing(*world.READY, annotations={"crossplane.io/paused": "true"}), PAUSED, "nobody reconciles it"),
        (thing(*world.READY, deletionTimestamp=world.TRANSITION), DELETING, "it goes, ready or not"),
        ({"metadata": {"name": "a"}}, PRESENT, "a ConfigMap has no conditions"),
        ({"metadata": {"name": "a"}, "status": {"conditions": "no list"}}, PRESENT, "malformed is absent"),
        ({"metadata": None, "status": [1]}, PRESENT, "so is everything else"),
    ],
)
def test_the_state_is_that_of_the_conditions(obj, state, why):
    assert row_of(obj).state == state, why


def test_values_of_secrets_are_not_shown():
    annotation = {"kubectl.kubernetes.io/last-applied-configuration": "c2VjcmV0"}
    metadata = {"name": "a", "annotations": annotation}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"password": "c2VjcmV0"}}
    assert "c2VjcmV0" not in shown_yaml(secret).text
    assert "password" in without_secret_values(secret)["data"]


def test_long_lines_are_truncated_and_marked():
    shown = shown_yaml({"metadata": {"name": "a"}, "data": {"line": "x" * 1_000_000}})
    assert shown.is_cut
    assert len(shown.text) < 5_000
