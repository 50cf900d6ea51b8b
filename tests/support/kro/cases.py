"""Cases of function-kro: a graph, a composite and what is observed, and what the function answers."""

from __future__ import annotations

import pathlib
from typing import Any

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
from crossply.functions.builtin.kro.function import run
from crossply.functions.builtin.kro.kinds import Kind
from crossply.values.deepcopy import deepcopy
from crossply.values.protobuf_struct import to_wire

Object = dict[str, Any]
CASES = pathlib.Path(__file__).parents[2] / "functions" / "kro" / "cases"
COMPOSITE = Kind("example.org/v1", "Platform")
_READY = {READY_TRUE: "True", READY_FALSE: "False"}


def kinds() -> dict[Kind, Object]:
    """The kinds of all cases and their schemas, with the metadata that every object has."""
    described = yaml.safe_load((CASES / "kinds.yaml").read_text())
    return {
        Kind(*name.split(" ")): _as_object(schema, described["metadata"])
        for name, schema in described["kinds"].items()
    }


def _as_object(schema: Object, metadata: Object) -> Object:
    text = {"type": "string"}
    properties = {"apiVersion": text, "kind": text, "metadata": metadata, **schema.get("properties", {})}
    return {"type": "object", **schema, "properties": properties}


def load() -> dict[str, Object]:
    """All cases by the name of their file and their own."""
    cases = {}
    for file in sorted(CASES.glob("*.yaml")):
        if file.name != "kinds.yaml":
            for case in yaml.safe_load(file.read_text()):
                cases[f"{file.stem}: {case['name']}"] = case
    return cases


def composite_of(case: Object) -> Object:
    metadata = {"name": "demo", "namespace": "team-a", "uid": "1-2-3", **case.get("metadata", {})}
    return {
        "apiVersion": COMPOSITE.api_version,
        "kind": COMPOSITE.kind,
        "metadata": metadata,
        "spec": case.get("spec", {}),
        "status": {"ignored": True},
    }


def request_of(case: Object, schemas: dict[Kind, Object]) -> Request:
    """The request of an engine with all schemas and external resources that the function requires."""
    observed = {name: Resource(to_wire(obj)) for name, obj in case.get("observed", {}).items()}
    return Request(
        State(Resource(to_wire(composite_of(case))), observed),
        input=to_wire(
            {
                "apiVersion": "kro.fn.crossplane.io/v1alpha1",
                "kind": "ResourceGraph",
                "resources": case["resources"],
                "status": case.get("status", {}),
            }
        ),
        required_schemas={kind.key: schema for kind, schema in schemas.items()},
        required_resources={
            name: tuple(Resource(to_wire(obj)) for obj in items)
            for name, items in case.get("external", {}).items()
        },
    )


def answer_of(response: Response) -> Object:
    """What of a response a case is about."""
    fatal = [result.message for result in response.results if result.severity == SEVERITY_FATAL]
    if fatal:
        return {"error": fatal[0]}
    assert response.desired is not None
    assert response.desired.composite is not None
    assert response.requirements is not None
    return {
        "resources": {
            name: _without_empty({"object": resource.object, "ready": _READY.get(resource.ready)})
            for name, resource in response.desired.resources.items()
        },
        "status": response.desired.composite.object.get("status", {}),
        "selectors": {
            name: _without_empty(
                {
                    "apiVersion": selector.api_version,
                    "kind": selector.kind,
                    "name": selector.match_name,
                    "namespace": selector.namespace,
                    "labels": selector.match_labels,
                }
            )
            for name, selector in response.requirements.resources.items()
        },
    }


def _without_empty(answer: Object) -> Object:
    return {key: value for key, value in answer.items() if value}


def ours(case: Object, schemas: dict[Kind, Object]) -> Object:
    return answer_of(run(request_of(deepcopy(case), schemas)))
