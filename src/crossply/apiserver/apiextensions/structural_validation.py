"""Validates that a schema is structural: every value has a type, and `allOf` and the like only restrict it.

Only structural schemas can be defaulted, pruned and used by rules.
"""

from __future__ import annotations

from typing import Any

from crossply.apiserver.apiextensions.schema_survey import survey
from crossply.errors import CrossplyError
from crossply.schema.field_errors import FORBIDDEN, INVALID, REQUIRED, FieldError
from crossply.values import Object
from crossply.values.regexp import compile_go

ROOT, ITEM, FIELD = "at the root", "for specified array items", "for specified object fields"

PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
INT_OR_STRING = "x-kubernetes-int-or-string"

PLAIN = frozenset(
    {
        *("description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "properties"),
        *("exclusiveMinimum", "maxLength", "minLength", "maxItems", "minItems", "multipleOf", "enum"),
        *("maxProperties", "minProperties", "required", "externalDocs", "example"),
    }
)
"""Keywords that are allowed everywhere; most schemas have no others, so there is little to check."""
_LEAF = PLAIN - {"properties"}
_SUBSCHEMA_KEYWORDS = frozenset({"items", "allOf", "anyOf", "oneOf", "not", "additionalProperties"})
_INT_OR_STRING_ANY_OF = [{"type": "integer"}, {"type": "string"}]
_UNSUPPORTED = {
    "id": "id",
    "$schema": "schema",
    "$ref": "$ref",
    "patternProperties": "patternProperties",
    "dependencies": "dependencies",
    "additionalItems": "additionalItems",
    "definitions": "definitions",
}
_FORBIDDEN_WHEN_NESTED = {
    "type": "must be empty to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    PRESERVE: "must be false to be structural",
    EMBEDDED: "must be false to be structural",
    INT_OR_STRING: "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}


def unsupported_problem(schema: Object) -> str | None:
    """Why a schema cannot be read as a structural one at all, or None."""
    return _own_problem(schema) if survey(schema).is_structural_below_root else _problem(schema)


def _problem(schema: Object) -> str | None:
    if is_leaf(schema):
        return None
    own = _own_problem(schema)
    return own or next((problem for child in children(schema) if (problem := _problem(child))), None)


def _own_problem(schema: Object) -> str | None:
    if schema.keys() <= PLAIN:
        return None
    for key, shown in _UNSUPPORTED.items():
        if schema.get(key) or (key == "additionalItems" and key in schema):
            return f"OpenAPIV3Schema '{shown}' is not supported"
    if schema.get(PRESERVE) is False:
        return f"internal error: '{PRESERVE}' must be true or undefined"
    if isinstance(schema.get("items"), list):
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    return None


def is_leaf(schema: Object) -> bool:
    """Whether a schema has no others in it, and no keyword that is not allowed everywhere."""
    return schema.keys() <= _LEAF


def children(schema: Object) -> list[Object]:
    """The schemas directly inside a schema."""
    schemas: list[Any] = []
    if not schema.keys() <= PLAIN:
        for key in _SUBSCHEMA_KEYWORDS & schema.keys():
            value = schema[key]
            schemas += value if isinstance(value, list) else [value]
    properties = schema.get("properties")
    if properties:
        schemas += properties.values()
    return [schema for schema in schemas if isinstance(schema, dict)] if schemas else schemas


def check_structural(schema: Object, path: str) -> list[FieldError]:
    """The errors that keep a schema from being structural, sorted by text as in kube-apiserver."""
    errors: list[FieldError] = []
    if survey(schema).is_structural_below_root:
        _own_invariants(schema, ROOT, path, errors)
    else:
        _invariants(schema, ROOT, path, errors)
    _complete(schema, schema, path, path, errors)
    return sorted(errors, key=str)


def _invariants(schema: Object, level: str, path: str, errors: list[FieldError]) -> None:
    items = schema.get("items")
    if items is not None:
        _invariants(items, ITEM, f"{path}.items", errors)
    for name, member in (schema.get("properties") or {}).items():
        _invariants(member, FIELD, f"{path}.properties[{name}]", errors)
    _own_invariants(schema, level, path, errors)


def _own_invariants(schema: Object, level: str, path: str, errors: list[FieldError]) -> None:
    kind = schema.get("type")
    if kind == "array" and schema.get("items") is None:
        errors.append(FieldError(REQUIRED, f"{path}.items", "", "must be specified"))
    if kind and level is not ROOT and schema.keys() <= PLAIN:
        return
    _others(schema, level, path, errors)
    _extensions(schema, path, errors)
    _values(schema, _is_any_of_pattern(schema), _is_all_of_pattern(schema), path, errors)
    _types(schema, level, path, errors)
    _resource_fields(schema, level, path, errors)


def _others(schema: Object, level: str, path: str, errors: list[FieldError]) -> None:
    others = schema.get("additionalProperties")
    if others is None:
        return
    if level is ROOT:
        errors.append(
            FieldError(FORBIDDEN, f"{path}.additionalProperties", "", "must not be used at the root")
        )
    if isinstance(others, dict):
        _invariants(others, FIELD, f"{path}.additionalProperties", errors)


def _extensions(schema: Object, path: str, errors: list[FieldError]) -> None:
    if schema.get(INT_OR_STRING):
        detail = f"must be false if {INT_OR_STRING} is true"
        errors += [
            FieldError(INVALID, f"{path}.{key}", True, detail)
            for key in (PRESERVE, EMBEDDED)
            if schema.get(key)
        ]


def _types(schema: Object, level: str, path: str, errors: list[FieldError]) -> None:
    kind = schema.get("type") or ""
    if schema.get(EMBEDDED) and kind != "object":
        detail = f"must be object if {EMBEDDED} is true"
        errors.append(_wrong_or_missing(f"{path}.type", kind, detail))
    elif not kind and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        errors.append(FieldError(REQUIRED, f"{path}.type", "", f"must not be empty {level}"))
    if schema.get(EMBEDDED) and schema.get("additionalProperties") is not None:
        detail = f"must not be used if {EMBEDDED} is set"
        errors.append(FieldError(FORBIDDEN, f"{path}.additionalProperties", "", detail))
    if level is ROOT and kind and kind != "object":
        errors.append(FieldError(INVALID, f"{path}.type", kind, "must be object at the root"))


def _wrong_or_missing(path: str, value: str, detail: str) -> FieldError:
    return FieldError(INVALID if value else REQUIRED, path, value, detail)


def _resource_fields(schema: Object, level: str, path: str, errors: list[FieldError]) -> None:
    properties = schema.get("properties") or {}
    embedded = bool(schema.get(EMBEDDED))
    is_resource = level is ROOT or embedded
    for name, kind in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        if is_resource and name in properties and properties[name].get("type") != kind:
            wrong = properties[name].get("type") or ""
            errors.append(FieldError(INVALID, f"{path}.properties[{name}].type", wrong, f"must be {kind}"))
    if level is ROOT and "metadata" in properties and not _only_names(properties["metadata"]):
        detail = (
            "must not specify anything other than name and generateName, but metadata is implicitly specified"
        )
        errors.append(FieldError(FORBIDDEN, f"{path}.properties[metadata]", "", detail))
    if embedded and not schema.get(PRESERVE) and not properties:
        detail = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        errors.append(FieldError(REQUIRED, f"{path}.properties", "", detail))


def _only_names(metadata: Object) -> bool:
    if metadata.keys() - {"type", "default", "properties"}:
        return False
    return (metadata.get("properties") or {}).keys() <= {"name", "generateName"}


def _is_any_of_pattern(schema: Object) -> bool:
    return schema.get("anyOf") == _INT_OR_STRING_ANY_OF


def _is_all_of_pattern(schema: Object) -> bool:
    branches: list[Object] = schema.get("allOf") or []
    return bool(branches) and branches[0].get("anyOf") == _INT_OR_STRING_ANY_OF


def _values(
    schema: Object, skip_any_of: bool, skip_first_all_of: bool, path: str, errors: list[FieldError]
) -> None:
    """Validate the keywords that restrict values, and the schemas inside them."""
    if not skip_any_of:
        for index, branch in enumerate(schema.get("anyOf") or ()):
            _nested(branch, False, f"{path}.anyOf[{index}]", errors)
    for index, branch in enumerate(schema.get("allOf") or ()):
        _nested(branch, skip_first_all_of and index == 0, f"{path}.allOf[{index}]", errors)
    for index, branch in enumerate(schema.get("oneOf") or ()):
        _nested(branch, False, f"{path}.oneOf[{index}]", errors)
    if "not" in schema:
        _nested(schema["not"], False, f"{path}.not", errors)
    pattern = schema.get("pattern")
    if pattern:
        try:
            compile_go(pattern)
        except CrossplyError as problem:
            detail = f"must be a valid regular expression, but isn't: {problem}"
            errors.append(FieldError(INVALID, f"{path}.pattern", pattern, detail))


def _nested(schema: Object, skip_any_of: bool, path: str, errors: list[FieldError]) -> None:
    """Validate a schema inside allOf and the like: it may restrict values, but not define them."""
    _values(schema, skip_any_of, False, path, errors)
    if isinstance(schema.get("items"), dict):
        _nested(schema["items"], False, f"{path}.items", errors)
    properties = schema.get("properties") or {}
    for name, member in properties.items():
        _nested(member, False, f"{path}.properties[{name}]", errors)
    if schema.get("additionalProperties", False) is not False:
        detail = "must be undefined to be structural"
        errors.append(FieldError(FORBIDDEN, f"{path}.additionalProperties", "", detail))
    errors += [
        FieldError(FORBIDDEN, f"{path}.{key}", "", detail)
        for key, detail in _FORBIDDEN_WHEN_NESTED.items()
        if key in schema
    ]
    if "metadata" in properties:
        detail = "must not be specified in a nested context"
        errors.append(FieldError(FORBIDDEN, f"{path}.properties[metadata]", "", detail))


def _complete(
    restriction: Object, schema: Object | None, path: str, sentence_path: str, errors: list[FieldError]
) -> None:
    """Every field that a restriction names must be part of the structure as well."""
    if schema is None:
        errors.append(FieldError(REQUIRED, path, "", f"because it is defined in {sentence_path}"))
        return
    if "not" in restriction:
        _complete_nested(restriction["not"], schema, path, f"{sentence_path}.not", errors)
    for key in ("allOf", "anyOf", "oneOf"):
        for index, branch in enumerate(restriction.get(key) or ()):
            _complete_nested(branch, schema, path, f"{sentence_path}.{key}[{index}]", errors)


def _complete_nested(
    restriction: Object, schema: Object | None, path: str, sentence_path: str, errors: list[FieldError]
) -> None:
    _complete(restriction, schema, path, sentence_path, errors)
    if schema is None:
        return
    if isinstance(restriction.get("items"), dict):
        _complete_nested(
            restriction["items"], schema.get("items"), f"{path}.items", f"{sentence_path}.items", errors
        )
    properties = schema.get("properties") or {}
    for name, member in (restriction.get("properties") or {}).items():
        at, nested_sentence_path = f"{path}.properties[{name}]", f"{sentence_path}.properties[{name}]"
        _complete_nested(member, properties.get(name), at, nested_sentence_path, errors)
