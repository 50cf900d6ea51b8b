"""Validates a schema in a definition: keywords, extensions, list types, defaults and rules.

One walk over the schema. Errors of rules are collected separately, because they come last, and a rule is
validated only if the schema that it applies to has no errors. A default must match its schema and have no
unknown fields.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.apiserver.apiextensions.cel_rule_validation import Scope, Totals, check_rule_texts, check_rules
from crossply.apiserver.apiextensions.go_printing import invalid_struct, schema_keys, show_schema
from crossply.apiserver.apiextensions.list_type_declarations import (
    check_keys,
    check_list_type,
    check_map_type,
)
from crossply.apiserver.apiextensions.structural_validation import (
    EMBEDDED,
    PLAIN,
    PRESERVE,
    check_structural,
    is_leaf,
    unsupported_problem,
)
from crossply.schema.cel_object_validation import RuleChecker, has_rules
from crossply.schema.field_errors import FORBIDDEN, INVALID, REQUIRED, FieldError, unsupported
from crossply.schema.prune import prune
from crossply.schema.validation import validate
from crossply.values import Object

_TYPES = ["array", "boolean", "integer", "number", "object", "string"]
_META_FIELDS = ("metadata", "kind", "apiVersion")
_FORBIDDEN = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_AT_ROOT = (
    *("description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "required"),
    *("items", "properties", "externalDocs", "example", PRESERVE, "x-kubernetes-validations"),
)
_AT_ROOT_SHOWN = (
    "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength "
    "Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example "
    "XPreserveUnknownFields XValidations"
)

_RESOURCE_FIELDS = ("metadata", "apiVersion", "kind")


class Place(NamedTuple):
    """The position of the walk in a schema."""

    path: str
    defaults_forbidden: str | None = None
    """Why defaults are forbidden here; None if they are allowed."""
    in_metadata: bool = False
    uncorrelatable: str = ""
    """The nearest parent whose items cannot be correlated between two versions of an object."""

    def without_correlation(self) -> Place:
        """The same, below a list or map whose members have no identity."""
        return self if self.uncorrelatable else self._replace(uncorrelatable=self.path)


class SchemaReport:
    """The errors of the walk."""

    __slots__ = ("of_rules", "of_schemas", "totals")

    def __init__(self) -> None:
        self.of_schemas: list[FieldError] = []
        self.of_rules: list[FieldError] = []
        self.totals = Totals()


def check_schema(schema: Object, has_status: bool, path: str) -> list[FieldError]:
    """The errors of the schema of a version, in kube-apiserver's order."""
    errors = _check_root(schema, path) if has_status else []
    if schema.get("nullable"):
        errors.append(FieldError(FORBIDDEN, f"{path}.nullable", "", "nullable cannot be true at the root"))
    unreadable = unsupported_problem(schema)
    structural: list[FieldError] = []
    if unreadable is None:
        structural = check_structural(schema, path) or _check_defaults(schema, path)
    result = SchemaReport()
    scope = None if unreadable or structural or not has_rules(schema) else Scope.of_root(schema)
    _walk(schema, Place(path), True, scope, result)
    errors += [*structural, *result.of_schemas, *result.of_rules]
    if unreadable and not errors:
        errors.append(FieldError(INVALID, path, "", unreadable))
    return errors + result.totals.errors(path)


def _check_root(schema: Object, path: str) -> list[FieldError]:
    """With a status subresource, only keywords that do not concern the status may be at the root."""
    for key in (key for key in schema_keys() if key in schema):
        if key == "type":
            if schema[key] != "object":
                detail = (
                    'only "object" is allowed as the type at the root of the schema if the status '
                    "subresource is enabled"
                )
                return [FieldError(INVALID, f"{path}.type", schema[key], detail)]
        elif key not in _AT_ROOT:
            detail = (
                f"only [{_AT_ROOT_SHOWN}] fields are allowed at the root of the schema if the status "
                "subresource is enabled"
            )
            return [invalid_struct(path, show_schema(schema), detail)]
    return []


def _needs_no_walk(schema: Object) -> bool:
    return is_leaf(schema) and (schema.get("type") or "object") in _TYPES


def _walk(schema: Object, place: Place, is_root: bool, scope: Scope | None, result: SchemaReport) -> None:
    if schema.keys() <= PLAIN and (schema.get("type") or "object") in _TYPES:
        _walk_properties(schema, place, is_root, scope, result)
        return
    before = len(result.of_schemas)
    errors, path = result.of_schemas, place.path
    errors += _keywords(schema, place)
    if schema.get("uniqueItems"):
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        errors.append(FieldError(FORBIDDEN, f"{path}.uniqueItems", "", detail))
    _walk_others(schema, place, scope, result)
    _walk_properties(schema, place, is_root, scope, result)
    _walk_branches(schema, place, result)
    _walk_items(schema, place, scope, result)
    for name, dependency in sorted((schema.get("dependencies") or {}).items()):
        if isinstance(dependency, dict):
            _walk(dependency, place._replace(path=f"{path}.dependencies[{name}]"), False, None, result)
    if schema.get(PRESERVE) is False:
        errors.append(FieldError(INVALID, f"{path}.{PRESERVE}", False, "must be true or undefined"))
    errors += [*check_map_type(schema, path), *check_list_type(schema, path), *check_keys(schema, path)]
    if schema.get("x-kubernetes-validations"):
        errors += check_rule_texts(schema, path)
        if len(errors) == before and scope is not None:
            result.of_rules += check_rules(schema, scope, path, place.uncorrelatable, result.totals)


def _keywords(schema: Object, place: Place) -> list[FieldError]:
    path, kind = place.path, schema.get("type") or ""
    errors = []
    if kind and kind not in _TYPES:
        errors.append(unsupported(f"{path}.type", kind, _TYPES))
    if "default" in schema and place.defaults_forbidden is not None:
        detail = f"must not be set {place.defaults_forbidden}"
        errors.append(FieldError(FORBIDDEN, f"{path}.default", "", detail))
    errors += [
        FieldError(FORBIDDEN, f"{path}.{key}", "", f"{key} is not supported")
        for key in _FORBIDDEN
        if key in schema
    ]
    if kind == "null":
        detail = "type cannot be set to null, use nullable as an alternative"
        errors.append(FieldError(FORBIDDEN, f"{path}.type", "", detail))
    if isinstance(schema.get("items"), list):
        detail = "items must be a schema object and not an array"
        errors.append(FieldError(FORBIDDEN, f"{path}.items", "", detail))
    if place.in_metadata and schema.get(EMBEDDED):
        errors.append(
            FieldError(FORBIDDEN, f"{path}.{EMBEDDED}", "", "must not be used inside of resource meta")
        )
    return errors


def _walk_others(schema: Object, place: Place, scope: Scope | None, result: SchemaReport) -> None:
    others = schema.get("additionalProperties")
    if others is None:
        return
    path = f"{place.path}.additionalProperties"
    if schema.get("properties") and others is not True:
        detail = "additionalProperties and properties are mutual exclusive"
        result.of_schemas.append(FieldError(FORBIDDEN, path, "", detail))
    if not isinstance(others, dict):
        return
    below = place._replace(path=path)
    if place.in_metadata:
        below = below._replace(defaults_forbidden="inside additionalProperties applying to object metadata")
    _walk(others, below, False, scope and scope.member(others, None), result)


def _walk_properties(
    schema: Object, place: Place, is_root: bool, scope: Scope | None, result: SchemaReport
) -> None:
    properties = schema.get("properties")
    if not properties:
        return
    for name in sorted(properties):
        if _needs_no_walk(properties[name]):
            continue
        below = Place(f"{place.path}.properties[{name}]", *place[1:])
        if (is_root or schema.get(EMBEDDED)) and name in _META_FIELDS:
            below = below._replace(in_metadata=True)
            if is_root:
                below = below._replace(defaults_forbidden=f"in top-level {name}")
        _walk(properties[name], below, False, scope and scope.member(properties[name], name), result)


def _walk_branches(schema: Object, place: Place, result: SchemaReport) -> None:
    if "not" in schema:
        _walk(schema["not"], place._replace(path=f"{place.path}.not"), False, None, result)
    for key in ("allOf", "oneOf", "anyOf"):
        for index, branch in enumerate(schema.get(key) or ()):
            _walk(branch, place._replace(path=f"{place.path}.{key}[{index}]"), False, None, result)
    for name, definition in sorted((schema.get("definitions") or {}).items()):
        _walk(definition, place._replace(path=f"{place.path}.definitions[{name}]"), False, None, result)


def _walk_items(schema: Object, place: Place, scope: Scope | None, result: SchemaReport) -> None:
    items = schema.get("items")
    if items is None:
        return
    below = place if schema.get("x-kubernetes-list-type") == "map" else place.without_correlation()
    if isinstance(items, dict):
        at = below._replace(path=f"{place.path}.items")
        _walk(items, at, False, scope and scope.member(items, None), result)
        return
    for index, item in enumerate(items):
        _walk(item, below._replace(path=f"{place.path}.items[{index}]"), False, None, result)


def _check_defaults(schema: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    _walk_defaults({**schema, EMBEDDED: True}, path, False, errors)
    return errors


def _walk_defaults(schema: Object, path: str, in_metadata: bool, errors: list[FieldError]) -> None:
    is_resource = bool(schema.get(EMBEDDED))
    if "default" in schema:
        errors += _check_default(schema, path, in_metadata and not is_resource)
    if isinstance(schema.get("items"), dict):
        _walk_defaults(schema["items"], f"{path}.items", in_metadata and not is_resource, errors)
    properties = schema.get("properties")
    if not properties:
        return
    for name in sorted(properties):
        if is_leaf(properties[name]):
            continue
        inside = (in_metadata and not is_resource) or (is_resource and name in _RESOURCE_FIELDS)
        _walk_defaults(properties[name], f"{path}.properties[{name}]", inside, errors)


def _check_default(schema: Object, path: str, in_metadata: bool) -> list[FieldError]:
    default = schema["default"]
    # As a member of an object, so that the checks do not take the default for a resource.
    wrapper: Object = {"type": "object", "properties": {"default": schema}}
    errors = []
    may_be_pruned = not in_metadata and isinstance(default, dict | list)
    if may_be_pruned and prune({"default": default}, wrapper) != {"default": default}:
        errors.append(FieldError(INVALID, f"{path}.default", default, "must not have unknown fields"))
    wrong = _check_embedded(default, schema) or validate(default, schema)
    if wrong:
        return errors + [_placed(error, f"{path}.default") for error in wrong]
    if has_rules(schema):
        rules = RuleChecker(wrapper)
        broken = rules.check({"default": default}, {"default": default}) or rules.check({"default": default})
        errors += [error._replace(path=f"{path}.{error.path}") for error in broken]
    return errors


def _check_embedded(default: Any, schema: Object) -> list[FieldError]:
    if not schema.get(EMBEDDED) or not isinstance(default, dict):
        return []
    return [FieldError(REQUIRED, key, "", "") for key in ("apiVersion", "kind") if not default.get(key)]


def _placed(error: FieldError, path: str) -> FieldError:
    return error._replace(path=f"{path}.{error.path}" if error.path else path)
