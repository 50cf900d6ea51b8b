"""The functions that function-go-templating adds to sprig: YAML, and access to parts of the request."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import ByteMap, NilList, NilMap, Structure
from crossply.functions.builtin.go_templating.engine.limits import decoded_size
from crossply.functions.builtin.go_templating.engine.signatures import ANY, Function, FunctionFailed

CONTEXT_KEY = "apiextensions.crossplane.io/extra-resources"
_MAP = "map[string]interface {}"


def random_choice(*choices: str) -> str:
    """One of the given strings."""
    import random

    if not choices:
        raise FunctionFailed("invalid argument to Intn")
    return random.choice(choices)


def to_yaml(value: Any) -> str:
    """A value as YAML."""
    from crossply.functions.builtin.go_templating import yaml_encoder as yaml_writing

    return yaml_writing.to_yaml(value)


def from_yaml(text: str) -> Any:
    """The value of YAML text."""
    from crossply.functions.builtin.go_templating import from_yaml as yaml_reading

    return yaml_reading.from_yaml(text)


def resource_condition(kind: str, resource: dict[str, Any]) -> Structure:
    """A status condition of a resource."""
    from crossply.functions.builtin.go_templating import resource_conditions as conditions

    return conditions.resource_condition(kind, resource)


def name_annotation(name: str) -> str:
    """The line that names a composed resource."""
    return f"gotemplating.fn.crossplane.io/composition-resource-name: {name}"


def composed_resource(data: dict[str, Any], name: str) -> dict[str, Any]:
    """An observed composed resource by its name."""
    return _map(_at(data, "observed", "resources", name, "resource"))


def connection_details(data: dict[str, Any], name: str) -> dict[str, Any]:
    """The connection details of an observed composed resource, still in base64."""
    return _map(_at(data, "observed", "resources", name, "connectionDetails"))


def composite_resource(data: dict[str, Any]) -> dict[str, Any]:
    """The observed XR."""
    return _map(_at(data, "observed", "composite", "resource"))


def extra_resources(data: dict[str, Any], name: str) -> list[Any]:
    """The resources that were fetched for a requirement of this step."""
    for group in ("requiredResources", "extraResources"):
        items = _at(data, group, name, "items")
        if isinstance(items, list):
            return items
    return NilList()


def extra_resources_from_context(data: dict[str, Any], name: str) -> list[Any]:
    """The resources that were fetched for a requirement of an earlier step."""
    items = _at(data, "context", CONTEXT_KEY, name, "items")
    return items if isinstance(items, list) else NilList()


def credential_data(data: dict[str, Any], name: str) -> dict[str, bytes]:
    """The secret data of a credential of this step."""
    from crossply.functions.builtin.protojson import MessageError, read_request

    try:
        # The data is read as a request again: a template may have changed it into something else.
        return ByteMap(read_request(data).credentials.get(name, {}))
    except MessageError:
        return ByteMap()


def _at(value: Any, *keys: str) -> Any:
    """What stands at the end of a path of keys; None when the path breaks off."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else NilMap()


FUNCTIONS: dict[str, Function] = {
    "randomChoice": Function(random_choice, ("string",), variadic=True),
    "toYaml": Function(to_yaml, (ANY,)),
    "fromYaml": Function(from_yaml, ("string",), memory=decoded_size),
    "getResourceCondition": Function(resource_condition, ("string", _MAP)),
    "setResourceNameAnnotation": Function(name_annotation, ("string",)),
    "getComposedResource": Function(composed_resource, (_MAP, "string")),
    "getCompositeResource": Function(composite_resource, (_MAP,)),
    "getComposedConnectionDetails": Function(connection_details, (_MAP, "string")),
    "getExtraResources": Function(extra_resources, (_MAP, "string")),
    "getExtraResourcesFromContext": Function(extra_resources_from_context, (_MAP, "string")),
    "getCredentialData": Function(credential_data, (_MAP, "string")),
}
