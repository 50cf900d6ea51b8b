"""Short ways to run patch-and-transform: plain objects in, plain objects out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.compose.function_messages import Request, Resource, Response, State
from crossply.functions.builtin.patch_and_transform.function import run
from crossply.values.protobuf_struct import from_wire, to_wire

Object = dict[str, Any]

XR: Object = {
    "apiVersion": "example.org/v1",
    "kind": "XDb",
    "metadata": {"name": "db", "uid": "u-1"},
    "spec": {},
}
BASE: Object = {"apiVersion": "rds.example.org/v1", "kind": "Instance"}
RESOURCE: Object = {"apiVersion": "rds.example.org/v1", "kind": "Instance", "metadata": {"name": "db-x7"}}
ENVIRONMENT = "apiextensions.crossplane.io/environment"
FATAL, WARNING = 1, 2


def xr(**spec: Any) -> Object:
    return {**XR, "spec": spec}


def observed(**fields: Any) -> Object:
    return {**RESOURCE, **fields}


def resource(obj: Object, details: dict[str, bytes] | None = None, ready: int = 0) -> Resource:
    return Resource(to_wire(obj), details or {}, ready)


def run_input(
    input_: Object | None,
    *,
    composite: Object | None = None,
    exists: dict[str, Resource] | None = None,
    desired: State | None = None,
    context: Object | None = None,
    required: dict[str, tuple[Resource, ...]] | None = None,
    function: Callable[[Request], Response] = run,
) -> Response:
    """Run the function with an input."""
    request = Request(
        State(resource(XR if composite is None else composite), exists or {}),
        desired,
        input=None if input_ is None else to_wire(input_),
        context=None if context is None else to_wire(context),
        required_resources=required,
        tag="tag",
    )
    return function(request)


def run_templates(*templates: Object, **options: Any) -> Response:
    """Run the function with templates."""
    return run_input({"resources": list(templates)}, **options)


def run_patch(patch: Object, *, base: Object = BASE, **options: Any) -> Response:
    """Run the function with one template that has one patch."""
    return run_templates({"name": "one", "base": base, "patches": [patch]}, **options)


def transform(value: Any, *transforms: Object, **options: Any) -> Any:
    """What transforms make of a value; a failure's message when they fail."""
    patch = {"fromFieldPath": "spec.in", "toFieldPath": "spec.out", "transforms": list(transforms)}
    response = run_patch(patch, composite=xr(**{"in": value}), **options)
    if response.results:
        return messages(response)[0].partition("returned error: ")[2] or messages(response)[0]
    return desired_object(response)["spec"]["out"]


def desired_object(response: Response, name: str = "one") -> Object:
    """A resource that the function wants, whole numbers as integers."""
    assert response.desired is not None, messages(response)
    obj: Object = from_wire(response.desired.resources[name].object)
    return obj


def messages(response: Response) -> list[str]:
    return [result.message for result in response.results]


def severities(response: Response) -> list[int]:
    return [result.severity for result in response.results]
