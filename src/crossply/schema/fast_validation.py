"""A fast path for valid objects: one pass that replaces defaulting, pruning and validation.

A schema is compiled once into nested functions. They return the value with defaults filled in, or raise
`Unusual` at the first thing that is not plainly valid: an unknown field, a null, a constraint that is not
met, an unsupported keyword. Then the full code runs and produces the errors. `Unusual` is never wrong, only
slower, so this module stays simple.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from crossply.schema.default_sizes import DefaultsTooLarge, check_default
from crossply.values import Object
from crossply.values.deepcopy import deepcopy

Check = Callable[[Any], Any]

_MOST_COMPILED = 50_000
"""How many schemas, each with those inside, are remembered together: with their checks about 50 MB."""
_THOUGHT = ("anyOf", "oneOf", "allOf", "not", "$ref", "x-kubernetes-embedded-resource")
_HARMLESS_FORMATS = frozenset({"int32", "int64", "float", "double", "password"})
_compiled: dict[int, tuple[Object, Check]] = {}
_compiled_schemas = 0


class Unusual(Exception):
    """The value needs full validation."""


def quick_check(schema: Object) -> Check:
    """The compiled check of an object's schema; it is remembered as long as the schema is used."""
    known = _compiled.get(id(schema))
    if known is None or known[0] is not schema:
        known = _remember(schema)
    return known[1]


def _remember(schema: Object) -> tuple[Object, Check]:
    global _compiled_schemas
    size = _schemas_in(schema)
    if _compiled_schemas + size > _MOST_COMPILED:
        _compiled.clear()
        _compiled_schemas = 0
    _compiled_schemas += size
    known = _compiled[id(schema)] = (schema, _root(schema))
    return known


def _schemas_in(schema: Any) -> int:
    if not isinstance(schema, dict):
        return 0
    below = [schema.get("items"), schema.get("additionalProperties")]
    return 1 + sum(map(_schemas_in, [*below, *(schema.get("properties") or {}).values()]))


def _root(schema: Object) -> Check:
    """The check of a whole object; apiVersion, kind and metadata have rules of their own."""
    properties = {
        key: value
        for key, value in (schema.get("properties") or {}).items()
        if key not in ("apiVersion", "kind", "metadata")
    }
    required = [key for key in schema.get("required") or () if key not in ("apiVersion", "kind", "metadata")]
    head = {"apiVersion": _unchanged, "kind": _unchanged, "metadata": _metadata(schema)}
    return _object({**schema, "properties": properties, "required": required}, head)


def _metadata(schema: Object) -> Check:
    """The check of metadata: a schema may restrict the name of an object, and nothing else of it."""
    described = (schema.get("properties") or {}).get("metadata")
    names = (described.get("properties") or {}) if isinstance(described, dict) else {}
    checks = [(key, _check(names[key])) for key in ("name", "generateName") if key in names]
    if not checks:
        return _unchanged

    def checked(value: Any) -> Any:
        for key, check in checks:
            if isinstance(value, dict) and key in value:
                check(value[key])
        return value

    return checked


def _check(schema: Any) -> Check:
    if not isinstance(schema, dict):
        return _give_up
    if schema.get("x-kubernetes-int-or-string") is True:
        return _give_up if "pattern" in schema or "enum" in schema else _int_or_string
    if any(schema.get(key) for key in _THOUGHT):
        return _give_up
    kind = schema.get("type")
    if kind != "string" and schema.get("format") and schema["format"] not in _HARMLESS_FORMATS:
        return _give_up
    check = _MAKERS.get(kind, _untyped)(schema) if isinstance(kind, str) else _untyped(schema)
    check = _with_enum(check, schema.get("enum"))
    return _nullable(check) if schema.get("nullable") is True else check


def _unchanged(value: Any) -> Any:
    return value


def _give_up(value: Any) -> Any:
    raise Unusual


def _untyped(schema: Object) -> Check:
    preserves = schema.get("x-kubernetes-preserve-unknown-fields") is True
    return _not_null if preserves and not schema.get("properties") else _give_up


def _not_null(value: Any) -> Any:
    if value is None:
        raise Unusual
    return value


def _int_or_string(value: Any) -> Any:
    if type(value) is int or type(value) is str:
        return value
    raise Unusual


def _nullable(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _with_enum(check: Check, allowed: Any) -> Check:
    if allowed is None:
        return check
    if check is not _plain_string or not isinstance(allowed, list):
        return _give_up
    names = frozenset(name for name in allowed if isinstance(name, str))

    def checked(value: Any) -> Any:
        if check(value) in names:
            return value
        raise Unusual

    return checked


def _string(schema: Object) -> Check:
    shortest, longest = schema.get("minLength") or 0, schema.get("maxLength")
    pattern, has_format = schema.get("pattern"), _format_check(schema.get("format"))
    if pattern is None and not shortest and longest is None and has_format is None:
        return _plain_string
    search = _searcher(pattern)

    def checked(value: Any) -> Any:
        if type(value) is not str or len(value) < shortest or (longest is not None and len(value) > longest):
            raise Unusual
        if search is not None and search(value) is None:
            raise Unusual
        if has_format is not None and not has_format(value):
            raise Unusual
        return value

    return checked


def _format_check(name: str | None) -> Callable[[str], bool] | None:
    from crossply.schema.formats import is_checked, matches_format

    return partial(matches_format, name) if name and is_checked(name) else None


def _plain_string(value: Any) -> Any:
    if type(value) is str:
        return value
    raise Unusual


def _searcher(pattern: str | None) -> Callable[[str], Any] | None:
    if pattern is None:
        return None
    from crossply.values.regexp import RegexpError, compile_go

    try:
        search: Callable[[str], Any] = compile_go(pattern).search
    except RegexpError:
        return lambda text: None
    return search


def _number(types: tuple[type, ...]) -> Callable[[Object], Check]:
    def make(schema: Object) -> Check:
        low, high = schema.get("minimum"), schema.get("maximum")
        exclusive = schema.get("exclusiveMinimum") or schema.get("exclusiveMaximum")
        if exclusive or schema.get("multipleOf") is not None:
            return _give_up
        if schema.get("format") == "int32":
            low = -(1 << 31) if low is None else max(low, -(1 << 31))
            high = (1 << 31) - 1 if high is None else min(high, (1 << 31) - 1)

        def checked(value: Any) -> Any:
            if type(value) not in types:
                raise Unusual
            if (low is not None and value < low) or (high is not None and value > high):
                raise Unusual
            return value

        return checked

    return make


def _boolean(schema: Object) -> Check:
    def checked(value: Any) -> Any:
        if type(value) is bool:
            return value
        raise Unusual

    return checked


def _array(schema: Object) -> Check:
    item = _check(schema.get("items") or {})
    fewest, most = schema.get("minItems") or 0, schema.get("maxItems")
    if schema.get("uniqueItems") or schema.get("x-kubernetes-list-type") in ("set", "map"):
        distinct = _distinct(schema)
    else:
        distinct = None

    def checked(value: Any) -> Any:
        if type(value) is not list or len(value) < fewest or (most is not None and len(value) > most):
            raise Unusual
        result = [item(entry) for entry in value]
        if distinct is not None:
            distinct(result)
        return result

    return checked


def _distinct(schema: Object) -> Check:
    keys = schema.get("x-kubernetes-list-map-keys") or []

    def checked(items: Any) -> Any:
        try:
            distinct = {tuple(entry.get(key) for key in keys) if keys else entry for entry in items}
        except (TypeError, AttributeError):
            raise Unusual from None
        if len(distinct) != len(items):
            raise Unusual
        return items

    return checked


def _object(schema: Object, head: Mapping[str, Check] | None = None) -> Check:
    members = {key: _check(member) for key, member in (schema.get("properties") or {}).items()}
    members.update(head or {})
    try:
        defaults = _defaults(schema)
    except DefaultsTooLarge:
        return _give_up
    if not all(_passes(members[key], default) for key, default in defaults):
        return _give_up
    required = tuple(schema.get("required") or ())
    others = _others(schema)
    if schema.get("minProperties") or schema.get("maxProperties") is not None:
        return _give_up
    find = members.get

    def checked(value: Any) -> Any:
        if type(value) is not dict:
            raise Unusual
        result = {}
        for key, member in value.items():
            check = find(key)
            result[key] = check(member) if check is not None else others(member)
        for key, default in defaults:
            if key not in result:
                result[key] = deepcopy(default)
        for key in required:
            if key not in result:
                raise Unusual
        return result

    return checked


def _passes(check: Check, value: Any) -> bool:
    try:
        check(value)
    except Unusual:
        return False
    return True


def _others(schema: Object) -> Check:
    """What is done with members that no property describes."""
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        return _check(extra)
    preserves = schema.get("x-kubernetes-preserve-unknown-fields") is True
    return _unchanged if extra is True or preserves else _give_up


def _defaults(schema: Object) -> tuple[tuple[str, Any], ...]:
    """Defaults of properties, with the defaults below them filled in."""
    from crossply.schema.defaults import apply_defaults

    defaults = []
    for key, member in (schema.get("properties") or {}).items():
        if isinstance(member, dict) and "default" in member:
            check_default(member)
            defaults.append(
                (key, apply_defaults({key: member["default"]}, {"properties": {key: member}})[key])
            )
    return tuple(defaults)


_MAKERS: dict[str, Callable[[Object], Check]] = {
    "string": _string,
    "integer": _number((int,)),
    "number": _number((int, float)),
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}
