"""Facts about a schema from one walk over it, so that most checks need not walk over it again.

Nearly all schemas are plain: they have known keywords only, each with a value that Go neither refuses nor
leaves out. Go reads and writes them as they are. Below their root most also have nothing that could keep
them from being structural. A schema is surveyed once while its definition is decoded, defaulted, validated
and stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.values import Object
from crossply.values.bounded_cache import IdentityCache
from crossply.values.nesting import nests_deeper

RULES = "x-kubernetes-validations"

_INT64 = 2**63
_RULE_TEXTS = ("rule", "message", "messageExpression", "fieldPath")
_LEVELS_OF_VALUES = 20
"""How deep the defaults and enums of a shallow schema nest at most."""
_LEVELS_PER_SCHEMA, _LEVELS_AT_END = 2, 3
_CACHED_BYTES, _BYTES_PER_SCHEMA = 4 << 20, 512


class Survey(NamedTuple):
    """The facts of a plain schema; of any other, nothing but that it is none."""

    is_plain: bool = False
    schemas: int = 0
    levels: int | None = None
    """An upper bound of its levels in JSON; None if its values nest deeply."""
    widest: int = 0
    """The most properties of an object."""
    formats: frozenset[tuple[str, str]] = frozenset()
    """Pairs of type and format."""
    with_rules: tuple[Object, ...] = ()
    """The schemas that have rules."""
    defaults: int = 0
    is_structural_below_root: bool = False
    """Whether no schema below the root can have an error that keeps the whole from being structural."""


def survey(schema: Any) -> Survey:
    """The survey of a schema, of which nothing needs to be known."""
    return _surveys.get(schema)


def is_plain(schema: Any) -> bool:
    """Whether a schema has known keywords only, each with a value that Go neither refuses nor leaves out."""
    return survey(schema).is_plain


def _survey(schema: Any) -> Survey:
    level, count, depth, widest, defaults = [schema], 0, 0, 0, 0
    formats: set[tuple[str, str]] = set()
    with_rules: list[Object] = []
    is_structural, are_values_shallow = True, True
    while level:
        below: list[Any] = []
        for node in level:
            if type(node) is not dict or not _takes(node, below):
                return Survey()
            if "format" in node:
                formats.add((node.get("type", ""), node["format"]))
            if "properties" in node:
                widest = max(widest, len(node["properties"]))
            if not node.keys() <= _WITHOUT_VALUES:
                defaults += "default" in node
                are_values_shallow = are_values_shallow and not any(
                    nests_deeper(node[key], _LEVELS_OF_VALUES) for key in ("default", "enum") if key in node
                )
                if RULES in node:
                    with_rules.append(node)
            if depth:
                is_structural = is_structural and _is_structural(node)
        count += len(level)
        depth += 1
        level = below
    levels = depth * _LEVELS_PER_SCHEMA + _LEVELS_AT_END + _LEVELS_OF_VALUES
    return Survey(
        is_plain=True,
        schemas=count,
        levels=levels if are_values_shallow else None,
        widest=widest,
        formats=frozenset(formats),
        with_rules=tuple(with_rules),
        defaults=defaults,
        is_structural_below_root=is_structural,
    )


def _takes(node: Object, below: list[Any]) -> bool:
    """Whether a schema is plain, apart from the schemas in it, which are added to `below`."""
    for key, value in node.items():
        if key in _TEXTS:
            if type(value) is not str or not value:
                return False
        elif key == "properties":
            if type(value) is not dict or not value:
                return False
            below += value.values()
        elif key == "items" or (key == "additionalProperties" and type(value) is not bool):
            below.append(value)
        elif key in _BRANCHES:
            if type(value) is not list or not value:
                return False
            below += value
        elif not _OTHERS.get(key, _no)(value):
            return False
    return True


def _is_structural(node: Object) -> bool:
    """Whether a plain schema below the root has none of the keywords that may be wrong in it."""
    return (
        "type" in node
        and node.keys() <= _NEVER_WRONG_BELOW_ROOT
        and (node["type"] != "array" or "items" in node)
    )


def _no(_: Any) -> bool:
    return False


def _is_texts(value: Any) -> bool:
    return type(value) is list and bool(value) and all(type(item) is str for item in value)


def _is_integer(value: Any) -> bool:
    return type(value) is int and -_INT64 <= value < _INT64


def _are_rules(value: Any) -> bool:
    if type(value) is not list or not value:
        return False
    texts = {rule.get("rule") for rule in value if type(rule) is dict and _is_rule(rule)}
    return len(texts) == len(value)


def _is_rule(rule: Object) -> bool:
    return "rule" in rule and all(
        type(value) is str and bool(value) if key in _RULE_TEXTS else _RULE_OTHERS.get(key, _no)(value)
        for key, value in rule.items()
    )


_TEXTS = frozenset({"type", "description", "format", "title", "pattern"})
_BRANCHES = frozenset({"allOf", "anyOf", "oneOf"})
_RULE_OTHERS: dict[str, Callable[[Any], bool]] = {
    "reason": lambda value: type(value) is str,
    "optionalOldSelf": lambda value: type(value) is bool,
}
_OTHERS: dict[str, Callable[[Any], bool]] = {
    "additionalProperties": lambda value: type(value) is bool,
    "default": lambda value: value is not None,
    "enum": lambda value: type(value) is list and bool(value),
    "required": _is_texts,
    "x-kubernetes-list-map-keys": _is_texts,
    "x-kubernetes-list-type": lambda value: type(value) is str,
    "x-kubernetes-map-type": lambda value: type(value) is str,
    "x-kubernetes-preserve-unknown-fields": lambda value: type(value) is bool,
    RULES: _are_rules,
    **{
        key: lambda value: value is True
        for key in ("nullable", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "uniqueItems")
    },
    **{
        key: _is_integer
        for bound in ("maximum", "Length", "Items", "Properties")
        for key in ([bound, "minimum"] if bound == "maximum" else [f"max{bound}", f"min{bound}"])
    },
}
_WITHOUT_VALUES = (_TEXTS | _BRANCHES | _OTHERS.keys() | {"properties", "items"}) - {"default", "enum", RULES}
_NEVER_WRONG_BELOW_ROOT = (_TEXTS | _OTHERS.keys() | {"properties", "items"}) - {
    *("pattern", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"),
    "x-kubernetes-int-or-string",
}

_surveys: IdentityCache[Survey] = IdentityCache(
    _CACHED_BYTES, _survey, lambda result: result.schemas * _BYTES_PER_SCHEMA
)
