"""Deep equality like Go's reflect.DeepEqual, and deepCopy.

Values have the same fingerprint if and only if they are deeply equal. Fingerprints are hashable, so lists
are searched with sets. All walks use a stack and limit the number of values: a template can put a map into
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import Structure, go_type
from crossply.functions.builtin.go_templating.engine.limits import check_items
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed

Fingerprint = tuple[Any, ...]


def fingerprint(value: Any) -> Fingerprint:
    """What identifies a value and the types in it."""
    tokens: list[Any] = []
    pending = [value]
    while pending:
        item = pending.pop()
        tokens.append(go_type(item))
        if isinstance(item, dict):
            keys = sorted(item)
            tokens.append(tuple(keys))
            pending += [item[key] for key in reversed(keys)]
        elif isinstance(item, list):
            tokens.append(len(item))
            pending += reversed(item)
        else:
            tokens.append(_scalar_token(item))
        check_items(len(tokens) + len(pending))
    return tuple(tokens)


def fingerprints(items: Iterable[Any]) -> Iterator[Fingerprint]:
    """The fingerprints of many values, which may share parts: their sizes add up."""
    tokens = 0
    for item in items:
        item_fingerprint = fingerprint(item)
        tokens += len(item_fingerprint)
        check_items(tokens // 2)
        yield item_fingerprint


def _scalar_token(value: Any) -> Any:
    if value != value:
        # NaN is equal to nothing, not even to itself.
        return object()
    if not isinstance(value, Structure):
        return value
    if value.value is not None:
        return value.value
    return tuple(fingerprint(field) for field in value.fields.values())


def deep_equal(first: Any, other: Any) -> bool:
    """Whether two values are equal, down to the types of their parts."""
    return fingerprint(first) == fingerprint(other)


def deep_copy(value: Any) -> Any:
    """Copy maps and lists, and what is in them."""
    if value is None:
        raise FunctionFailed("reflect: call of reflect.Value.Type on zero Value")
    root: list[Any] = [value]
    pending: list[Any] = [root]
    copied = 0
    while pending:
        container = pending.pop()
        places = container.items() if isinstance(container, dict) else enumerate(container)
        for place, item in list(places):
            if isinstance(item, dict | list):
                container[place] = item.__class__(item)
                pending.append(container[place])
        copied += len(container)
        check_items(copied)
    return root[0]
