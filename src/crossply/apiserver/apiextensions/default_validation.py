"""Validates the defaults in a schema: each must match its schema and have no unknown fields."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.apiextensions.structural_validation import EMBEDDED, is_leaf
from crossply.schema.cel_object_validation import RuleChecker, has_rules
from crossply.schema.field_errors import INVALID, REQUIRED, FieldError
from crossply.schema.prune import prune
from crossply.schema.validation import validate
from crossply.values import Object

_META_FIELDS = ("metadata", "apiVersion", "kind")


def check_defaults(schema: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    _walk({**schema, EMBEDDED: True}, path, False, errors)
    return errors


def _walk(schema: Object, path: str, in_metadata: bool, errors: list[FieldError]) -> None:
    is_resource = bool(schema.get(EMBEDDED))
    if "default" in schema:
        errors += _check(schema, path, in_metadata and not is_resource)
    if isinstance(schema.get("items"), dict):
        _walk(schema["items"], f"{path}.items", in_metadata and not is_resource, errors)
    properties = schema.get("properties")
    if not properties:
        return
    for name in sorted(properties):
        if is_leaf(properties[name]):
            continue
        inside = (in_metadata and not is_resource) or (is_resource and name in _META_FIELDS)
        _walk(properties[name], f"{path}.properties[{name}]", inside, errors)


def _check(schema: Object, path: str, in_metadata: bool) -> list[FieldError]:
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
