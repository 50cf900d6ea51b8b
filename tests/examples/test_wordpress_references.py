"""How the stand-in provider of the Wordpress example finds what a field refers to (seed 1)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from crossply.kube.kind import Kind

_PATH = Path(__file__).parents[2] / "examples" / "07-wordpress" / "provider" / "references.py"
_spec = importlib.util.spec_from_file_location("wordpress_references", _PATH)
assert _spec is not None
assert _spec.loader is not None
references = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(references)

NETWORK = Kind("example.org", "v1", "Network", "networks", False)
ROUTE = Kind("example.org", "v1", "Route", "routes", False)
KINDS = {"network": NETWORK, "routeId": ROUTE}


def resource(name, controller="", labels=None, **fields):
    owners = [{"uid": controller, "controller": True}] if controller else []
    return {"metadata": {"name": name, "labels": labels or {}, "ownerReferences": owners}, **fields}


EXISTING = {
    NETWORK: [
        resource("mine-a", "me", {"zone": "a"}),
        resource("mine-b", "me", {"zone": "b"}),
        resource("theirs", "them", {"zone": "c"}),
    ],
    ROUTE: [resource("road", status={"id": "/routes/1"}), resource("track")],
}


def change(**fields):
    return references.resolved(resource("x", "me", spec={"forProvider": fields}), KINDS, EXISTING.__getitem__)


def to(name, value=None):
    return {"spec": {"forProvider": {"networkRef": {"name": name}, "network": value or name}}}


@pytest.mark.parametrize(
    ("fields", "expected", "reason"),
    [
        ({"networkRef": {"name": "theirs"}}, to("theirs"), "a reference names anything"),
        ({"networkSelector": {"matchLabels": {"zone": "c"}}}, to("theirs"), "labels find anything"),
        (
            {"networkSelector": {"matchControllerRef": True, "matchLabels": {"zone": "b"}}},
            to("mine-b"),
            "both together find one of the same composite",
        ),
        (
            {"networkRef": {"name": "mine-a"}, "networkSelector": {"matchLabels": {"zone": "b"}}},
            to("mine-a"),
            "where there is a reference, the selector is ignored",
        ),
        ({"network": "given", "networkSelector": {"matchLabels": {"zone": "b"}}}, {}, "a value stays"),
        ({"size": 3}, {}, "nothing refers to anything"),
        (
            {"routeIdRef": {"name": "road"}},
            {"spec": {"forProvider": {"routeIdRef": {"name": "road"}, "routeId": "/routes/1"}}},
            "an ID is what the cloud gave it",
        ),
    ],
)
def test_references_resolve_to_fields(fields, expected, reason):
    assert change(**fields) == expected, reason


def test_one_of_several_is_chosen_at_random():
    names = {
        change(networkSelector={"matchControllerRef": True})["spec"]["forProvider"]["network"]
        for _ in range(100)
    }
    assert names == {"mine-a", "mine-b"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"networkRef": {"name": "none"}}, "no such object"),
        (
            {"networkSelector": {"matchControllerRef": True, "matchLabels": {"zone": "c"}}},
            "of another composite",
        ),
        ({"routeIdRef": {"name": "track"}}, "it has no ID yet"),
    ],
)
def test_a_missing_reference_is_awaited(fields, reason):
    with pytest.raises(references.Unresolved):
        change(**fields)
