"""Recorded runs, as plain values."""

from __future__ import annotations

from crossply.compose.engine_field_paths import MODERN
from crossply.compose.events import StatusCondition
from crossply.runs.model import (
    APPLIED,
    COMPOSED,
    COMPOSITE,
    EffectRun,
    FieldChange,
    ObjectRef,
    Round,
    Run,
    RunSummary,
    StepRun,
    Subject,
    World,
)
from crossply.values import Object

SUBJECT = Subject("shop.example.org/v1", "Shop", "default", "mine", "u-1")


def desired(**resources: Object) -> Object:
    """A desired state as the protocol writes it."""
    return {"resources": {name: {"resource": resource} for name, resource in resources.items()}}


def config_map(**data: str) -> Object:
    """A composed ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": data}


def step(name: str, before: Object, after: Object, offset: float = 0.0, **more: object) -> StepRun:
    """A step that took 20 ms and was called once."""
    call = Round({"observed": {}}, {"desired": after}, 0.02, False, {}, {}, offset)
    run = StepRun(name, f"function-{name}", "", 0.02, offset, (call,), (), (), before, after, {}, {})
    return run._replace(**more)  # type: ignore[arg-type]


def applied(name: str, offset: float, *changes: FieldChange, **more: object) -> EffectRun:
    """A ConfigMap that was applied."""
    ref = ObjectRef("v1", "ConfigMap", "default", name, name)
    return EffectRun(APPLIED, ref, changes, offset=offset, seconds=0.01)._replace(**more)  # type: ignore[arg-type]


def run(*steps: StepRun, effects: tuple[EffectRun, ...] = (), **more: object) -> Run:
    """A run of the Shop `mine` that took 100 ms."""
    summary = RunSummary(
        "aaaaaaaaaaaa",
        SUBJECT,
        1000.0,
        0.1,
        ("XR edited",),
        COMPOSED,
        "",
        "",
        "shop",
        "shop-1",
        (),
        len(steps),
    )
    world = World(
        COMPOSITE, {}, MODERN, None, None, StatusCondition("Responsive", "True", "x"), (), {}, {}, (), ()
    )
    composite = {"apiVersion": SUBJECT.api_version, "kind": "Shop", "spec": {"region": "eu-west"}}
    sample = Run(summary, "the newest", composite, {}, steps, effects, world, 0)
    return sample._replace(**more)  # type: ignore[arg-type]
