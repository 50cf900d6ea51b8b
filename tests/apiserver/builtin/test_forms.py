"""Kinds that have two forms: Events and HorizontalPodAutoscalers."""

from __future__ import annotations

from crossply.apiserver import builtin
from tests.support.apiserver.builtin_kinds import by_kind, new

EVENT = new("v1", "Event", involvedObject={"name": "x"}, message="hi", count=2, reportingComponent="c")


def test_an_event_is_the_same_in_both_groups() -> None:
    core, events = by_kind()["", "Event"], by_kind()["events.k8s.io", "Event"]
    other = builtin.converted(events, EVENT, "v1")
    assert other["apiVersion"] == "events.k8s.io/v1"
    assert (other["regarding"], other["note"], other["deprecatedCount"]) == ({"name": "x"}, "hi", 2)
    assert builtin.converted(core, other, "v1") == EVENT


def test_an_autoscaler_of_version_one_aims_at_cpu() -> None:
    resource = by_kind()["autoscaling", "HorizontalPodAutoscaler"]
    first = new("autoscaling/v1", "HorizontalPodAutoscaler", spec={"targetCPUUtilizationPercentage": 50})
    metrics = builtin.converted(resource, first, "v2")["spec"]["metrics"]
    assert metrics[0]["resource"]["target"] == {"type": "Utilization", "averageUtilization": 50}


def test_fields_that_version_one_lacks_survive_in_annotations() -> None:
    resource = by_kind()["autoscaling", "HorizontalPodAutoscaler"]
    pods = {"type": "Pods", "pods": {"metric": {"name": "x"}, "target": {"averageValue": "1"}}}
    two = new(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        spec={"metrics": [pods], "behavior": {"scaleUp": {"selectPolicy": "Max"}}},
        status={"currentMetrics": None},
    )
    first = builtin.converted(resource, two, "v1")
    assert "metrics" not in first["spec"]
    back = builtin.converted(resource, first, "v2")
    assert back["spec"] == two["spec"]
    assert back["metadata"] == two["metadata"]


def test_other_kinds_have_one_form() -> None:
    config = new("v1", "ConfigMap")
    assert builtin.converted(by_kind()["", "ConfigMap"], config, "v1") is config
