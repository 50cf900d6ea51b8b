"""How a live object differs from what a recorded run desired."""

from crossply.ui.object_yaml import without_secret_values
from crossply.ui.resource_drift import FieldDifference, drift


def test_a_field_the_run_desired_otherwise_is_drift_and_a_field_of_others_is_not():
    desired = {"spec": {"size": 1, "region": "a"}}
    live = {"spec": {"size": 2, "zone": "b"}}
    assert drift(desired, live) == [
        FieldDifference("spec.region", "a", None),
        FieldDifference("spec.size", "1", "2"),
    ]


def test_a_recorded_placeholder_is_compared_with_nothing():
    desired = {"spec": {"password": "redacted-0a1b2c3d", "url": "sql://redacted-0a1b2c3d@db"}}
    assert drift(desired, {"spec": {"password": "hunter2", "url": "sql://hunter2@db"}}) == []


def test_a_desired_secret_is_compared_as_it_is_stored():
    desired = {
        "apiVersion": "v1",
        "kind": "Secret",
        "stringData": {"token": "redacted-0a1b2c3d", "user": "redacted-0a1b2c3e"},
    }
    live = {"apiVersion": "v1", "kind": "Secret", "data": {"token": "aHVudGVyMg=="}}
    assert drift(desired, without_secret_values(live)) == [
        FieldDifference("data.user", "redacted-0a1b2c3e", None)
    ]
