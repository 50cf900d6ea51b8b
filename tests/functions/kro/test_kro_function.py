"""function-kro in a pipeline: its requirements, other steps' desired state, and wrong inputs."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from crossply.compose.function_messages import (
    READY_TRUE,
    SEVERITY_FATAL,
    Request,
    Resource,
    ResourceSelector,
    Response,
    SchemaSelector,
    State,
)
from crossply.functions.builtin.kro.function import run
from crossply.values.protobuf_struct import to_wire

XR = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "demo", "namespace": "a"},
    "spec": {"image": "web", "share": 0.5, "size": 3},
}
TEXT = {"type": "string"}
TEXTS = {"type": "object", "additionalProperties": TEXT}
METADATA = {"type": "object", "properties": {"name": TEXT, "namespace": TEXT, "labels": TEXTS}}
SPEC = {
    "type": "object",
    "properties": {"image": TEXT, "share": {"type": "number"}, "size": {"type": "integer"}},
}
SCHEMA = {
    "type": "object",
    "properties": {"apiVersion": TEXT, "kind": TEXT, "metadata": METADATA, "spec": SPEC},
}
BUCKET = {
    "type": "object",
    "properties": {**SCHEMA["properties"], "status": {"type": "object", "properties": {"id": TEXT}}},  # type: ignore[dict-item]
}
APP, BUCKETS, CONFIG_MAP = "example.org/v1, Kind=App", "store.org/v1, Kind=Bucket", "/v1, Kind=ConfigMap"
TEMPLATE = {
    "apiVersion": "store.org/v1",
    "kind": "Bucket",
    "metadata": {},
    "spec": {
        "image": "${schema.spec.image}",
        "share": "${schema.spec.share * 2.0}",
        "size": "${schema.spec.size + 1}",
    },
}
GRAPH: dict[str, Any] = {
    "resources": [{"id": "bucket", "template": TEMPLATE}],
    "status": {"id": "${bucket.status.id}"},
}
WRONG_INPUT = (
    "cannot get Function input from *v1.RunFunctionRequest: cannot get function input "
    "*v1alpha1.ResourceGraph from *v1.RunFunctionRequest: cannot unmarshal JSON from *structpb.Struct into "
    "*v1alpha1.ResourceGraph"
)
NO_SCHEMAS = (1, 2, 3, 4)
"""The capabilities of an engine that sends no schemas."""


def answered(graph: dict[str, Any] | None = None, **request: Any) -> Response:
    observed = {"bucket": Resource({"apiVersion": "store.org/v1", "kind": "Bucket", "status": {"id": "b-1"}})}
    function_input = {
        "apiVersion": "kro.fn.crossplane.io/v1alpha1",
        "kind": "ResourceGraph",
        **(graph or GRAPH),
    }
    state = State(Resource(to_wire(XR)), observed)
    return run(Request(state, request.pop("desired", None), input=to_wire(function_input), **request))


def fatal_message(answer: Response) -> str:
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL]
    return answer.results[0].message


def test_kro_requires_the_schemas_of_all_kinds_first() -> None:
    config = {
        "id": "config",
        "externalRef": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}},
    }
    before = State(Resource({"status": {"a": 1.0}}), {"other": Resource({"kind": "X"})})
    answer = answered({"resources": [*GRAPH["resources"], config]}, desired=before)
    assert answer.requirements is not None
    assert answer.requirements.schemas == {
        APP: SchemaSelector("example.org/v1", "App"),
        BUCKETS: SchemaSelector("store.org/v1", "Bucket"),
        CONFIG_MAP: SchemaSelector("v1", "ConfigMap"),
    }
    assert answer.requirements.resources == {}
    assert answer.desired == before
    assert answer.results == ()


def test_kro_evaluates_a_graph_when_the_schemas_are_there() -> None:
    before = State(Resource({"status": {"a": 1.0}}), {"other": Resource({"kind": "X"}, ready=READY_TRUE)})
    answer = answered(desired=before, required_schemas={APP: SCHEMA, BUCKETS: BUCKET})
    assert answer.results == ()
    assert answer.desired is not None
    assert answer.desired.composite == Resource(
        {"apiVersion": "example.org/v1", "kind": "App", "status": {"id": "b-1"}}
    )
    spec = {"image": "web", "share": 1.0, "size": 4.0}
    assert answer.desired.resources == {
        "other": Resource({"kind": "X"}, ready=READY_TRUE),
        "bucket": Resource({"apiVersion": "store.org/v1", "kind": "Bucket", "metadata": {}, "spec": spec}),
    }
    assert answer.requirements is not None
    assert set(answer.requirements.schemas) == {APP, BUCKETS}
    assert answer.ttl == 60 * 10**9


def test_kro_requires_definitions_of_an_engine_without_schemas() -> None:
    answer = answered(capabilities=NO_SCHEMAS)
    assert answer.requirements is not None
    assert answer.requirements.schemas == {}
    kind = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    assert answer.requirements.resources == {
        APP: ResourceSelector(*kind, "apps.example.org"),
        BUCKETS: ResourceSelector(*kind, "buckets.store.org"),
    }


def definition(kind: str, group: str, schema: dict[str, Any]) -> Resource:
    version = {"name": "v1", "schema": {"openAPIV3Schema": schema}}
    return Resource(to_wire({"spec": {"group": group, "names": {"kind": kind}, "versions": [version]}}))


def test_kro_takes_schemas_from_definitions() -> None:
    plain = {**SCHEMA, "properties": {**SCHEMA["properties"], "metadata": {"type": "object"}}}  # type: ignore[dict-item]
    template = {
        **TEMPLATE,
        "metadata": {
            "name": "${schema.metadata.name}-x",
            "labels": {"a": '${schema.metadata.?labels[?"a"].orValue("none")}'},
        },
    }
    definitions = {
        APP: (definition("App", "example.org", plain),),
        BUCKETS: (definition("Bucket", "store.org", BUCKET),),
    }
    answer = answered(
        {"resources": [{"id": "bucket", "template": template}]},
        capabilities=NO_SCHEMAS,
        required_resources=definitions,
    )
    assert answer.results == ()
    assert answer.desired is not None
    metadata = answer.desired.resources["bucket"].object["metadata"]
    assert metadata == {"name": "demo-x", "labels": {"a": "none"}}


def test_kro_definitions_that_are_not_there_are_fatal() -> None:
    answer = answered(capabilities=NO_SCHEMAS, required_resources={APP: (), BUCKETS: ()})
    assert fatal_message(answer).startswith("cannot process schemas: no usable CRDs found in response")


@pytest.mark.parametrize(
    ("schemas", "problem"),
    [
        ({APP: None, BUCKETS: None}, "cannot process schemas: no usable schemas found in response"),
        (
            {APP: None, BUCKETS: BUCKET},
            f'cannot process schemas: cannot resolve schema for XR "{APP}": cannot resolve {APP}: schema not '
            "found",
        ),
    ],
)
def test_kro_missing_schemas_are_fatal_with_a_hint(schemas: dict[str, Any], problem: str) -> None:
    message = fatal_message(answered(required_schemas=schemas))
    assert message.startswith(problem)
    assert "--xrd" in message
    assert "--required-schemas" in message


def test_kro_a_schema_of_a_resource_that_is_not_there_is_fatal() -> None:
    message = fatal_message(answered(required_schemas={APP: SCHEMA, BUCKETS: None}))
    assert message == (
        'cannot create resource graph: failed to build resource "bucket": failed to get schema for resource '
        f"bucket: cannot resolve {BUCKETS}: schema not found"
    )


@pytest.mark.parametrize(
    ("graph", "problem"),
    [
        ({"resources": [{"id": "a"}]}, 'cannot unmarshal resource id "a": unexpected end of JSON input'),
        (
            {"resources": [{"id": "a", "template": {"apiVersion": "v1"}}]},
            """cannot unmarshal resource id "a": Object 'Kind' is missing in '{"apiVersion":"v1"}'""",
        ),
        (
            {"resources": [{"id": "a", "readywhen": []}]},
            f"{WRONG_INPUT}: json: cannot unmarshal Go value of type v1alpha1.Resource: unknown name "
            '"readywhen"',
        ),
        (
            {"resources": "none"},
            f"{WRONG_INPUT}: json: cannot unmarshal JSON string into Go value of type []*v1alpha1.Resource",
        ),
    ],
)
def test_kro_an_input_that_is_no_graph_is_fatal(graph: dict[str, Any], problem: str) -> None:
    assert fatal_message(answered(graph, required_schemas={APP: SCHEMA})) == problem


def test_kro_an_empty_graph_desires_nothing() -> None:
    answer = answered({"resources": []}, required_schemas={APP: SCHEMA})
    assert answer.desired == State(Resource({"apiVersion": "example.org/v1", "kind": "App"}), {})


def test_kro_the_graph_follows_a_schema_that_changes() -> None:
    first = answered(required_schemas={APP: SCHEMA, BUCKETS: BUCKET})
    spec = {"type": "object", "properties": {"image": TEXT}}
    smaller = {**BUCKET, "properties": {**BUCKET["properties"], "spec": spec}}  # type: ignore[dict-item]
    second = answered(required_schemas={APP: SCHEMA, BUCKETS: smaller})
    assert first.results == ()
    assert "schema not found for field share" in fatal_message(second)


_IMPORTS = """
import sys
from crossply.functions.builtin.kro import function, worker
worker.prepare(b"")
import orjson
from tests.support.kro import cases, in_process
known = set(sys.modules)
for case in cases.load().values():
    in_process.answer(case)
print(*sorted(set(sys.modules) - known))
"""


def test_kro_a_confined_process_has_all_modules_before_it_is_confined() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORTS], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("", "")
