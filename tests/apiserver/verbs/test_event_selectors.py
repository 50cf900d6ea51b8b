"""Events are selected by their reporter."""

from __future__ import annotations

import pytest

from crossply.apiserver.registry.selectors import FieldClause, fields_match

BY_SOURCE = (FieldClause("source", True, "scheduler"),)


@pytest.mark.parametrize(
    ("event", "matches"),
    [
        ({"source": {"component": "scheduler"}}, True),
        ({"source": {}, "reportingComponent": "scheduler"}, True),  # made as an event of events.k8s.io
        ({"source": {"component": "kubelet"}, "reportingComponent": "scheduler"}, False),
        ({}, False),
    ],
)
def test_the_source_of_an_event_is_its_reporting_component(event: dict[str, object], matches: bool) -> None:
    assert fields_match(BY_SOURCE, {"kind": "Event", **event}) is matches
