"""A request as the FunctionIO that a container function reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossply.compose.function_messages import Request, Resource
from crossply.functions.function_io.pipeline_context_state import RULES, PipelineState
from crossply.functions.function_io.readiness_check_and_connection_detail_rules import Rules
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire
from crossply.values.yaml import dump

API_VERSION, KIND = "apiextensions.crossplane.io/v1alpha1", "FunctionIO"


def write(request: Request, config: Object | None, state: PipelineState) -> bytes:
    """The FunctionIO of a request, as YAML."""
    return dump(to_function_io(request, config, state)).encode("utf-8", "replace")


def to_function_io(request: Request, config: Object | None, state: PipelineState) -> Object:
    """The FunctionIO of a request."""
    written: Object = {"apiVersion": API_VERSION, "kind": KIND}
    if config is not None:
        written["config"] = config
    written["observed"] = write_observed(request)
    desired = _desired(request, state)
    if desired:
        written["desired"] = desired
    if state.results:
        written["results"] = list(state.results)
    return written


def explicit_details(request: Request, state: PipelineState) -> dict[str, bytes]:
    """The connection details of the composite resource that do not come from rules of composed resources."""
    composite = request.desired.composite or Resource({})
    known = {name: state.rules.get(name) or {} for name in request.desired.resources}
    rule_details = Rules(known).details(request.observed.resources)
    return {
        name: value for name, value in composite.connection_details.items() if rule_details.get(name) != value
    }


def as_text(value: bytes) -> str:
    """A connection detail as text, with invalid UTF-8 replaced."""
    return value.decode("utf-8", "replace")


def by_name(observed: Any) -> Any:
    """Observed state with lists of named entries as maps, to compare them without their order."""
    if isinstance(observed, dict):
        return {key: by_name(value) if key in _NAMED else value for key, value in observed.items()}
    if isinstance(observed, list) and all(
        isinstance(entry, dict) and entry.get("name") for entry in observed
    ):
        return {str(entry["name"]): by_name(entry) for entry in observed}
    return observed


_NAMED = ("composite", "resources", "connectionDetails")


def write_observed(request: Request) -> Object:
    """The `observed` of the FunctionIO."""
    observed: Object = {"composite": _resource(request.observed.composite or Resource({}))}
    resources = request.observed.resources
    if resources:
        observed["resources"] = [
            {"name": name, **_resource(resource)} for name, resource in resources.items()
        ]
    return observed


def _resource(resource: Resource) -> Object:
    return {"resource": from_wire(resource.object), **_details(resource.connection_details)}


def _details(details: Mapping[str, bytes]) -> Object:
    if not details:
        return {}
    return {"connectionDetails": [{"name": key, "value": as_text(details[key])} for key in sorted(details)]}


def _desired(request: Request, state: PipelineState) -> Object:
    desired: Object = {}
    composite = request.desired.composite
    if composite is not None:
        explicit = explicit_details(request, state)
        fields = {
            **({"resource": from_wire(composite.object)} if composite.object else {}),
            **_details(explicit),
        }
        if fields:
            desired["composite"] = fields
    if request.desired.resources:
        desired["resources"] = [
            _desired_resource(name, resource, state.rules.get(name) or {})
            for name, resource in request.desired.resources.items()
        ]
    return desired


def _desired_resource(name: str, resource: Resource, resource_rules: Object) -> Object:
    rules = {key: resource_rules[key] for key in RULES if resource_rules.get(key)}
    return {"name": name, "resource": from_wire(resource.object), **rules}
