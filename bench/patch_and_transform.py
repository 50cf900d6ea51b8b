"""How long the built-in patch-and-transform function takes, in-process. Prints figures only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin.patch_and_transform.function import run
from crossply.values.protobuf_struct import to_wire

Object = dict[str, Any]

PATCHES: list[Object] = [
    {
        "type": "FromCompositeFieldPath",
        "fromFieldPath": "spec.region",
        "toFieldPath": "spec.forProvider.region",
    },
    {"type": "FromCompositeFieldPath", "fromFieldPath": "metadata.labels"},
    {
        "type": "FromCompositeFieldPath",
        "fromFieldPath": "spec.size",
        "toFieldPath": "spec.forProvider.instanceClass",
        "transforms": [{"type": "map", "map": {"small": "db.t3.small", "large": "db.m5.large"}}],
    },
    {
        "type": "FromCompositeFieldPath",
        "fromFieldPath": "metadata.uid",
        "toFieldPath": "spec.writeConnectionSecretToRef.name",
        "transforms": [{"type": "string", "string": {"type": "Format", "fmt": "%s-secret"}}],
    },
    {
        "type": "CombineFromComposite",
        "toFieldPath": "spec.forProvider.tag",
        "combine": {
            "strategy": "string",
            "variables": [{"fromFieldPath": "spec.region"}, {"fromFieldPath": "spec.size"}],
            "string": {"fmt": "%s-%s"},
        },
    },
    {"type": "ToCompositeFieldPath", "fromFieldPath": "status.atProvider.id", "toFieldPath": "status.id"},
]


def request(resources: int, patches: int, *, observed: bool) -> Request:
    """A request for some resources with the first patches of the list each."""
    base = {
        "apiVersion": "rds.example.org/v1",
        "kind": "Instance",
        "spec": {
            "forProvider": {"engine": "postgres", "storage": 20, "tags": ["a", "b"]},
            "deletionPolicy": "Delete",
        },
    }
    names = [f"resource-{index}" for index in range(resources)]
    function_input = {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "resources": [{"name": name, "base": base, "patches": PATCHES[:patches]} for name in names],
    }
    xr = {
        "apiVersion": "example.org/v1",
        "kind": "XDatabase",
        "metadata": {"name": "db", "uid": "9a1c", "labels": {"team": "blue", "stage": "test"}},
        "spec": {"region": "eu-west-1", "size": "small"},
    }
    there = {
        "apiVersion": "rds.example.org/v1",
        "kind": "Instance",
        "metadata": {"name": "db-x", "namespace": "default"},
        "status": {"atProvider": {"id": "i-1"}, "conditions": [{"type": "Ready", "status": "True"}]},
    }
    state = State(
        Resource(to_wire(xr)), {name: Resource(to_wire(there)) for name in names} if observed else {}
    )
    return Request(state, input=to_wire(function_input), tag="t")


def microseconds(work: Callable[[], Any], rounds: int) -> float:
    """The best of five rounds, per call."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(rounds):
            work()
        best = min(best, time.perf_counter() - start)
    return best / rounds * 1e6


def main() -> None:
    """Print the figures."""
    for resources, patches, observed in ((3, 6, True), (3, 6, False), (100, 2, True), (100, 2, False)):
        prepared = request(resources, patches, observed=observed)
        assert not run(prepared).results
        took = microseconds(lambda: run(prepared), 30_000 // resources // 10)  # noqa: B023
        print(f"{resources} resources, {patches} patches each, observed={observed}: {took:.1f} µs")
    fresh = microseconds(lambda: run(request(3, 6, observed=True)), 300)
    building = microseconds(lambda: request(3, 6, observed=True), 300)
    print(f"an equal input that is a new object: {fresh - building:.1f} µs")


if __name__ == "__main__":
    main()
