"""Validate a value against a structural OpenAPI v3 schema, with Kubernetes' errors in Kubernetes' order.

After defaulting comes this check; unknown fields (`prune`), list types (`list_and_embedded_checks`) and rules
(`cel_object_validation`) have files of their own. The checks of one node run in a fixed order: type,
combinations (anyOf …), text, format, number, list, enum, object. `anyOf` and `oneOf` report the branch that
matched most, which is counted exactly as Kubernetes counts it, since the count decides which errors users
see.

Numbers keep the difference between integers and floats. A client that only has JSON, as Crossplane's
command line, sees every number as a float: give it `as_json(value)`.
"""

from __future__ import annotations

from typing import Any

from crossply.schema import single_value_validation as leaves
from crossply.schema.field_errors import INVALID, REQUIRED, FieldError, quote, too_many
from crossply.schema.single_value_validation import Result
from crossply.values import Object
from crossply.values.cancellation import checkpoint


def validate(value: Any, schema: Object) -> list[FieldError]:
    """Return the errors of a value in Kubernetes' order."""
    return list(_node(value, schema, "").errors.values())


def as_json(value: Any) -> Any:
    """Return a value as a JSON decoder without a schema sees it: every number is a float."""
    if isinstance(value, dict):
        return {name: as_json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _node(value: Any, schema: Object, path: str) -> Result:
    checkpoint()
    result = Result()
    if value is None:
        leaves.check_type(result, value, schema, path)
        leaves.check_enum(result, value, schema, path)
        return result
    if leaves.has_type_or_format(schema):
        leaves.check_type(result, value, schema, path)
        result.matches += 1
    _combinations(result, value, schema, path)
    result.matches += 3  # the node itself, its combinations, its enum
    if isinstance(value, str):
        _text(result, value, schema, path)
    elif isinstance(value, dict):
        leaves.check_enum(result, value, schema, path)
        _object(result, value, schema, path)
        result.matches += 1
    elif isinstance(value, list):
        _list(result, value, schema, path)
        leaves.check_enum(result, value, schema, path)
        result.matches += 1
    else:
        _scalar(result, value, schema, path)
    return result


def _text(result: Result, value: str, schema: Object, path: str) -> None:
    leaves.check_text(result, value, schema, path)
    result.matches += 1
    if leaves.check_format(result, value, schema, path):
        result.matches += 1
    leaves.check_enum(result, value, schema, path)


def _scalar(result: Result, value: Any, schema: Object, path: str) -> None:
    if not isinstance(value, bool):
        from crossply.schema.validation_numbers import check_number

        check_number(result, value, schema, path)
        result.matches += 1
    leaves.check_enum(result, value, schema, path)


def _list(result: Result, value: list[Any], schema: Object, path: str) -> None:
    items = schema.get("items")
    if isinstance(items, dict):
        for index, item in enumerate(value):
            result.merge(_node(item, items, f"{path}[{index}]"))
    leaves.check_list_size(result, value, schema, path)
    result.matches += 1


def _object(result: Result, value: Object, schema: Object, path: str) -> None:
    properties = schema.get("properties") or {}
    _object_size(result, value, schema, path)
    _other_members(result, value, schema, path)
    for name in sorted(properties):
        if name in value:
            result.merge(_node(value[name], properties[name], f"{path}.{name}" if path else name))
    for name in schema.get("required") or ():
        if name not in value:
            missing = f"{path}.{name}" if path else name
            result.add(FieldError(REQUIRED, missing, "", ""), f"{path}.{name} in body is required")


def _object_size(result: Result, value: Object, schema: Object, path: str) -> None:
    lowest, highest = schema.get("minProperties"), schema.get("maxProperties")
    if lowest is not None and len(value) < lowest:
        sentence = f"{path} in body should have at least {lowest} properties"
        result.add(FieldError(INVALID, path, len(value), sentence), sentence)
    if highest is not None and len(value) > highest:
        result.add(
            too_many(path, len(value), highest), f"{path} in body should have at most {highest} properties"
        )


def _other_members(result: Result, value: Object, schema: Object, path: str) -> None:
    others = schema.get("additionalProperties")
    properties = schema.get("properties") or {}
    if others is False:
        for name in sorted(value):
            if name not in properties:
                sentence = f"{path}.{name} in body is a forbidden property"
                result.add(FieldError(INVALID, path, name, sentence), sentence)
    elif isinstance(others, dict):
        for name in sorted(value):
            if name not in properties:
                result.merge(_node(value[name], others, f"{path}.{name}"))


def _combinations(result: Result, value: Any, schema: Object, path: str) -> None:
    if schema.get("anyOf"):
        _any_of(result, value, schema["anyOf"], path)
    if schema.get("oneOf"):
        _one_of(result, value, schema["oneOf"], path)
    if schema.get("allOf"):
        _all_of(result, value, schema["allOf"], path)
    if schema.get("not") is not None and not _node(value, schema["not"], path).errors:
        result.complain(f"{quote(path)} must not validate the schema (not)")
    result.matches += 1


def _any_of(result: Result, value: Any, branches: list[Object], path: str) -> None:
    best: Result | None = None
    for branch in branches:
        outcome = _node(value, branch, path)
        if not outcome.errors:
            result.merge(outcome)
            return
        if best is None or outcome.matches > best.matches:
            best = outcome
    result.complain(f"{quote(path)} must validate at least one schema (anyOf)")
    if best:
        result.merge(best)


def _one_of(result: Result, value: Any, branches: list[Object], path: str) -> None:
    outcomes = [_node(value, branch, path) for branch in branches]
    valid = [outcome for outcome in outcomes if not outcome.errors]
    if len(valid) == 1:
        result.merge(valid[0])
        return
    count_text = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
    result.complain(f"{quote(path)} must validate one and only one schema (oneOf). {count_text}")
    if not valid:
        # max() keeps the first of equals, as Kubernetes does.
        result.merge(max(outcomes, key=lambda outcome: outcome.matches))


def _all_of(result: Result, value: Any, branches: list[Object], path: str) -> None:
    outcomes = [_node(value, branch, path) for branch in branches]
    for outcome in outcomes:
        result.merge(outcome)
    valid = sum(not outcome.errors for outcome in outcomes)
    if valid != len(branches):
        none = "" if valid else ". None validated"
        result.complain(f"{quote(path)} must validate all the schemas (allOf){none}")
