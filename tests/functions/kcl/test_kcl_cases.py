"""Steps in KCL after the examples, documentation and source of the published function.

A case has a program and what the step answers. The published function cannot be run here: the expected
answers follow from its documentation and its source.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from crossply.compose.function_messages import Request, Resource, ResourceSelector, Response, State
from crossply.functions.builtin.kcl.function import run
from crossply.values.protobuf_struct import from_wire, to_wire

FOLDER = Path(__file__).parent / "cases"
READY = {"Unspecified": 0, "True": 1, "False": 2}
SEVERITY = {1: "Fatal", 2: "Warning", 3: "Normal"}
STATUS = {1: "Unknown", 2: "True", 3: "False"}
TARGET = {1: "Composite", 2: "CompositeAndClaim"}


def load_cases() -> list[Any]:
    cases = []
    for path in sorted(FOLDER.glob("*.yaml")):
        document = yaml.safe_load(path.read_text())
        for case in document["cases"]:
            merged = {**document.get("shared", {}), **case}
            cases.append(pytest.param(merged, id=f"{path.stem}: {case['name']}"))
    return cases


def resources(described: dict[str, Any]) -> dict[str, Resource]:
    return {
        name: Resource(
            to_wire(entry["object"]),
            {key: value.encode() for key, value in entry.get("details", {}).items()},
            READY[str(entry.get("ready", "Unspecified"))],
        )
        for name, entry in described.items()
    }


def request_of(case: dict[str, Any]) -> Request:
    input_ = case.get("input") or {
        "apiVersion": "krm.kcl.dev/v1alpha1",
        "kind": "KCLInput",
        "metadata": {"name": "basic"},
        "spec": {"source": case["source"], **case.get("spec", {})},
    }
    required = {
        field: {
            name: tuple(Resource(to_wire(obj)) for obj in objects)
            for name, objects in case.get(field, {}).items()
        }
        for field in ("extra", "required")
    }
    desired = case.get("desired", {})
    return Request(
        State(Resource(to_wire(case["xr"])) if "xr" in case else None, resources(case.get("observed", {}))),
        State(
            Resource(to_wire(desired["xr"])) if "xr" in desired else None,
            resources(desired.get("resources", {})),
        ),
        input=to_wire(input_),
        context=to_wire(case["context"]) if "context" in case else None,
        extra_resources=required["extra"],
        required_resources=required["required"],
        tag="t",
    )


def shown(answer: Response) -> dict[str, Any]:
    """What a step answers, in the form of the cases; what is empty is left out."""
    desired = answer.desired or State()
    composite = desired.composite
    requirements = answer.requirements
    parts = {
        "xr": from_wire(composite.object) if composite is not None else {},
        "details": {key: value.decode() for key, value in composite.connection_details.items()}
        if composite
        else {},
        "composed": {name: from_wire(resource.object) for name, resource in desired.resources.items()},
        "ready": {
            name: resource.ready == READY["True"]
            for name, resource in desired.resources.items()
            if resource.ready
        },
        "context": from_wire(answer.context or {}),
        "results": [
            [SEVERITY[result.severity], result.reason, result.message, TARGET.get(result.target or 0)]
            for result in answer.results
        ],
        "conditions": [
            [
                condition.type,
                STATUS[condition.status],
                condition.reason,
                condition.message,
                TARGET[condition.target or 0],
            ]
            for condition in answer.conditions
        ],
        "extra": _selectors(requirements.extra_resources if requirements else {}),
        "required": _selectors(requirements.resources if requirements else {}),
    }
    return {name: part for name, part in parts.items() if part}


def _selectors(selectors: dict[str, ResourceSelector]) -> dict[str, Any]:
    fields = ("match_name", "match_labels", "namespace")
    return {
        name: [
            f"{selector.api_version}/{selector.kind}",
            {field: getattr(selector, field) for field in fields if getattr(selector, field) is not None},
        ]
        for name, selector in selectors.items()
    }


@pytest.mark.parametrize("case", load_cases())
def test_a_step_answers_as_the_published_function_documents_it(case: dict[str, Any]) -> None:
    request = request_of(case)
    answer = run(request)
    expected = case["answer"]
    if "fatal" not in expected:
        assert shown(answer) == expected
        return
    severity, _, message, target = shown(answer)["results"][-1]
    assert (severity, target) == ("Fatal", "Composite")
    if isinstance(expected["fatal"], str):
        assert message == expected["fatal"]
    else:
        assert [part for part in expected["fatal"] if part not in message] == [], message
    assert answer.desired == request.desired
    assert answer.context == request.context


def test_there_are_at_least_sixty_cases() -> None:
    assert len(load_cases()) >= 60
