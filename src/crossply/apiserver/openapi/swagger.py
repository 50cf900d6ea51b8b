"""The parts of OpenAPI v2, for older clients.

Version 2 cannot express everything in a structural schema; the rest is left out, so that clients never refuse
what the server accepts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crossply.apiserver.openapi.definitions import with_parts
from crossply.apiserver.openapi.documents import custom_schemas, paths
from crossply.apiserver.registry.resources import Resource
from crossply.values import Object

_PREFIX, _OLD = "#/components/schemas/", "#/definitions/"
_UNKNOWN = ("default", "nullable", "oneOf", "anyOf", "not")
_OPEN = "x-kubernetes-preserve-unknown-fields"


HEAD: Object = {"swagger": "2.0", "info": {"title": "Kubernetes", "version": "1.36"}}
"""The beginning of the document."""


def swagger_paths(version: str, resources: list[Resource]) -> dict[str, Object]:
    """The paths of some resources, sorted."""
    return {path: _item(item) for path, item in paths(version, resources).items()}


def swagger_definitions(version: str, resources: list[Resource]) -> dict[str, Object]:
    """The definitions of custom resources, sorted."""
    return {name: _root(schema) for name, schema in sorted(custom_schemas(version, resources).items())}


def built_in_definitions(names: Iterable[str]) -> dict[str, Object]:
    """Definitions of built-in kinds with all that they refer to, sorted."""
    return {name: _root(schema) for name, schema in sorted(with_parts(names).items())}


def _root(schema: Object) -> Object:
    if schema.get(_OPEN):
        # An open kind must not be described by its few known fields.
        root: Object = {"type": "object"}
        for key in ("description", "x-kubernetes-group-version-kind"):
            if key in schema:
                root[key] = schema[key]
        return root
    return _schema(schema)


def _schema(schema: Object) -> Object:
    if schema.get(_OPEN):
        extensions = {key: value for key, value in schema.items() if key.startswith("x-kubernetes-")}
        return _described(schema, extensions)
    if schema.get("x-kubernetes-int-or-string"):
        return _described(schema, {"x-kubernetes-int-or-string": True})
    if schema.get("format") == "int-or-string":
        return {"type": "string", "format": "int-or-string"}
    if schema.get("nullable"):
        return _described(schema, {})
    if [part.get("type") for part in schema.get("oneOf") or ()] == ["string", "number"]:
        return {"type": "string"}
    return {key: _member(key, value) for key, value in _flattened(schema).items() if key not in _UNKNOWN}


def _described(schema: Object, rest: Object) -> Object:
    return {"description": schema["description"], **rest} if schema.get("description") else rest


def _flattened(schema: Object) -> Object:
    """A reference with siblings becomes a bare reference in version 2."""
    parts = schema.get("allOf")
    if parts and len(parts) == 1 and "$ref" in parts[0]:
        return {**{key: value for key, value in schema.items() if key != "allOf"}, **parts[0]}
    return {key: value for key, value in schema.items() if key != "allOf"}


def _member(key: str, value: Any) -> Any:
    if key == "$ref":
        return value.replace(_PREFIX, _OLD)
    if key == "properties":
        return {name: _schema(member) for name, member in value.items()}
    if key in ("items", "additionalProperties") and isinstance(value, dict):
        return _schema(value)
    return value


def _item(item: Object) -> Object:
    return {
        key: [_parameter(parameter) for parameter in value] if key == "parameters" else _operation(value)
        for key, value in item.items()
    }


def _operation(operation: Object) -> Object:
    body = operation.get("requestBody")
    parameters = [_parameter(parameter) for parameter in operation.get("parameters") or ()]
    if body:
        schema = next(iter(body["content"].values()))["schema"]
        body_parameter: Object = {"name": "body", "in": "body", "schema": _schema(schema)}
        if body.get("required"):
            body_parameter["required"] = True
        parameters = [body_parameter, *parameters]
    fields = {key: value for key, value in operation.items() if key not in ("requestBody", "parameters")}
    return {
        **fields,
        "consumes": list(body["content"]) if body else ["application/json", "application/yaml"],
        "produces": ["application/json", "application/yaml"],
        "schemes": ["https"],
        "parameters": parameters,
        "responses": {code: _response(response) for code, response in operation["responses"].items()},
    }


def _parameter(parameter: Object) -> Object:
    fields = {key: value for key, value in parameter.items() if key != "schema"}
    return {**fields, **parameter.get("schema", {})}


def _response(response: Object) -> Object:
    content = response.get("content")
    result: Object = {"description": response["description"]}
    if content:
        result["schema"] = _schema(next(iter(content.values()))["schema"])
    return result
