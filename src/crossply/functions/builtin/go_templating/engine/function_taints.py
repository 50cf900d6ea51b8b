"""What the result of a template function depends on.

By default on all of its arguments with everything in them. Functions that only look at a part of a container,
or pass it on, are listed here, so that a template that passes the whole XR on does not depend on all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from crossply.functions.builtin.go_templating.engine.taints import (
    CLEAN,
    Atom,
    Shadows,
    Taint,
    get,
    is_container,
)
from crossply.functions.field_provenance import KEYS

Values = Sequence[Any]
Taints = Sequence[Taint]
Rule = Callable[[Shadows, Values, Taints, Any], Taint]

CHANGES_A_MAP = frozenset(("set", "unset", "merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"))


def result_taint(
    name: str, shadows: Shadows, values: Values, taints: Taints, result: Any, control: Taint
) -> Taint:
    """What a result depends on; `control` decided that the function is called, which matters for changes."""
    if name in CHANGES_A_MAP:
        return _changed(name, shadows, values, taints, control)
    rule = _RULES.get(name)
    return _everything(shadows, values, taints) if rule is None else rule(shadows, values, taints, result)


def _everything(shadows: Shadows, values: Values, taints: Taints) -> Taint:
    return CLEAN.union(*map(shadows.whole, values, taints))


def _tested(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
    """Results that are one of the arguments, or depend only on their length."""
    return CLEAN.union(*map(shadows.keys, values, taints))


def _chain(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
    """`index` and `get`: a container and keys, one below the other."""
    return _walk(shadows, values[0], taints[0], values[1:], taints[1:])


def _has_key(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
    container, key = values
    taint = _chain(shadows, values, taints, result)
    return shadows.keys(get(container, key), taint) | shadows.of(container, taint).changed


def _dig(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
    """`dig`: keys, a default, and the map."""
    taint = _walk(shadows, values[-1], taints[-1], values[:-2], taints[:-2])
    return taint | shadows.keys(values[-2], taints[-2])


def _walk(shadows: Shadows, container: Any, taint: Taint, keys: Values, key_taints: Taints) -> Taint:
    for key, key_taint in zip(keys, key_taints, strict=True):
        taint |= key_taint
        if not is_container(container):
            return taint
        taint, container = shadows.item(container, key, taint), get(container, key)
    return taint


def _end(at: int) -> Rule:
    """`first` and `last`."""

    def rule(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
        items = values[0]
        if not isinstance(items, list) or not items:
            return _tested(shadows, values, taints, result)
        return shadows.keys(items, taints[0]) | shadows.item(items, at % len(items), taints[0])

    return rule


def _dict(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
    items = {key: CLEAN.union(*taints[2 * at + 1 : 2 * at + 2]) for at, key in enumerate(values[::2])}
    shadows.add_container(
        result, CLEAN.union(*taints[::2]), {str(key): taint for key, taint in items.items()}
    )
    return CLEAN


def _list(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
    shadows.add_container(result, CLEAN, dict(enumerate(taints)))
    return CLEAN


def _passed(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
    return CLEAN.union(*taints)


def _part(*path: str) -> Rule:
    """Functions that find a part of the data by a name: its content is known, its existence is a source."""

    def rule(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
        return CLEAN.union(*taints) | {Atom((*path, values[-1]), KEYS)}

    return rule


def _whole_part(*path: str) -> Rule:
    def rule(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
        return CLEAN.union(*taints) | {Atom((*path, values[-1]))}

    return rule


def _from_context(shadows: Shadows, values: Values, taints: Taints, result: Any) -> Taint:
    """`getExtraResourcesFromContext`: a list in the data, found by a name."""
    keys = ("context", "apiextensions.crossplane.io/extra-resources", values[1], "items")
    data, taint = values[0], taints[0] | taints[1]
    for key in keys:
        if is_container(data):
            taint, data = shadows.item(data, key, taint), get(data, key)
    return taint if isinstance(data, list) else shadows.whole(data, taint)


def _changed(name: str, shadows: Shadows, values: Values, taints: Taints, control: Taint) -> Taint:
    """Functions that change their first argument and return it."""
    if name in ("set", "unset"):
        shadow = shadows.of(values[0], taints[0])
        shadow.children[values[1]] = control.union(*taints[1:])
        shadow.own |= taints[1]
        shadow.changed |= control
    else:
        added = control.union(*map(shadows.whole, values[1:], taints[1:]))
        shadows.change(values[0], added | taints[0])
    return taints[0]


_RULES: dict[str, Rule] = {
    "index": _chain,
    "get": _chain,
    "hasKey": _has_key,
    "dig": _dig,
    "first": _end(0),
    "mustFirst": _end(0),
    "last": _end(-1),
    "mustLast": _end(-1),
    "dict": _dict,
    "list": _list,
    "tuple": _list,
    **dict.fromkeys(
        ("default", "coalesce", "ternary", "all", "any", "empty", "not", "len", "keys", "kindOf", "kindIs"),
        _tested,
    ),
    "getCompositeResource": _passed,
    "getComposedResource": _part("observed", "resources"),
    "getComposedConnectionDetails": _part("observed", "resources"),
    "getExtraResources": _whole_part("requiredResources"),
    "getExtraResourcesFromContext": _from_context,
    "getCredentialData": _whole_part("credentials"),
}
