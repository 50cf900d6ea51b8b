"""Environments of Compositions in `mode: Resources`: cases, and what Crossplane's own composer made of them.

`environment_recorded.json` was written by `python -m tests.functions.record_environments`.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import yaml

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    SEVERITY_FATAL,
    Request,
    Resource,
    Response,
    State,
)
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.functions.builtin.patch_and_transform.resources_mode import run_native
from crossply.kinds.composition import parse_composition
from crossply.kinds.composition_native_step import ENVIRONMENT_REFERENCES
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire, to_wire
from tests.support.paths import TESTS

_FOLDER = TESTS / "functions" / "patch_and_transform"
RECORDED = _FOLDER / "environment_recorded.json"


class EnvironmentCase(NamedTuple):
    """A Composition with an environment, and what exists."""

    name: str
    composition: Object
    xr: Object
    configs: list[Object]
    observed: dict[str, Object]
    difference: str
    """Why our answer differs; empty where it does not."""


def load_environment_cases() -> list[EnvironmentCase]:
    document = yaml.safe_load((_FOLDER / "environment_cases.yaml").read_text())
    return [_case(entry, document) for entry in document["cases"]]


def _case(entry: Object, shared: Object) -> EnvironmentCase:
    xr: Object = {**shared, **entry}["xr"]
    spec = {
        "compositeTypeRef": {"apiVersion": "shop.example.org/v1", "kind": "XShop"},
        "mode": "Resources",
        "resources": entry.get("resources", shared["resources"]),
        "patchSets": entry.get("patchSets", []),
    }
    if entry["environment"] is not None:
        spec["environment"] = entry["environment"]
    composition = {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "shops"},
        "spec": spec,
    }
    return EnvironmentCase(
        entry["name"],
        composition,
        xr,
        shared["configs"],
        entry.get("observed", {}),
        entry.get("difference", ""),
    )


def load_recorded_environments() -> dict[str, Object]:
    recorded: dict[str, Object] = json.loads(RECORDED.read_text())
    return recorded


def our_answer(case: EnvironmentCase) -> Object:
    """What the native function makes of a case, with the configs that it requires."""
    (step,) = parse_composition(case.composition).steps
    observed = {name: Resource(to_wire(obj)) for name, obj in case.observed.items()}
    state = State(Resource(to_wire(case.xr)), observed)
    cluster = InMemoryCluster(case.configs)
    cluster.serve_earlier_configs()
    required: dict[str, tuple[Resource, ...]] = {}
    for _ in range(2):
        response = run_native(Request(state, input=to_wire(step.input or {}), required_resources=required))
        selectors = response.requirements.resources if response.requirements else {}
        required = {
            name: tuple(Resource(snapshot.view) for snapshot in cluster.select(selector))
            for name, selector in selectors.items()
        }
        if not required:
            break
    return _summary(response)


def _summary(response: Response) -> Object:
    fatal = [result.message for result in response.results if result.severity == SEVERITY_FATAL]
    if fatal:
        return {"error": fatal[0]}
    assert response.desired is not None
    assert response.desired.composite is not None
    composite = from_wire(response.desired.composite.object)
    references = composite.get("metadata", {}).get("annotations", {}).get(ENVIRONMENT_REFERENCES, "")
    # What cannot be rendered is desired as it is; the composer leaves it alone.
    rendered = {
        name: resource
        for name, resource in response.desired.resources.items()
        if resource.ready != READY_FALSE
    }
    return {
        "composed": {name: from_wire(resource.object) for name, resource in rendered.items()},
        "ready": sorted(name for name, resource in rendered.items() if resource.ready == READY_TRUE),
        "references": references.split(",") if references else [],
        "status": composite.get("status"),
        "warnings": [result.message for result in response.results],
    }


def composer_answer(written: dict[str, Any]) -> Object:
    """What the program with Crossplane's composer printed, in the same form."""
    if "invalid" in written:
        return {"error": f"invalid Composition: {written['invalid']}"}
    if "error" in written:
        return {"error": written["error"].removeprefix("cannot compose resources: ")}
    ready = sorted(name for name, is_ready in written["ready"].items() if is_ready)
    composed = {name: _without_empty_metadata(obj) for name, obj in written["composed"].items()}
    fields = {field: written[field] for field in ("references", "status", "warnings")}
    return {**fields, "composed": composed, "ready": ready}


def _without_empty_metadata(obj: Object) -> Object:
    metadata = {name: value for name, value in obj.get("metadata", {}).items() if value}
    return {
        **{key: obj[key] for key in obj if key != "metadata"},
        **({"metadata": metadata} if metadata else {}),
    }
