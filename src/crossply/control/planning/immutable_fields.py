"""Which changes of an object a schema always refuses: immutable fields; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from crossply.values import Object
from crossply.values.differences import MISSING, Difference, Path, differences
from crossply.values.merge_patch import merge_patch

_SAME = frozenset({"self==oldSelf", "oldSelf==self"})
_MEMBER = re.compile(r"(?:^|[^\w.])(?:self\.(\w+)==oldSelf\.\1|oldSelf\.(\w+)==self\.\2)(?![\w.(])")
"""A rule of a parent about one of its members."""


def attempted_changes(live: Object, desired: Object) -> list[Difference]:
    """What an apply that was refused would have changed of an object."""
    fields = {key: value for key, value in desired.items() if key not in ("metadata", "status")}
    return differences(live, merge_patch(live, fields))


def immutable_fields(schema: Object, live: Object, changes: list[Difference]) -> list[str]:
    """The fields among the changes whose values must stay, as users write them."""
    fields: dict[str, None] = {}
    for change in changes:
        path = _immutable_path(schema, live, change.path)
        if path is not None:
            fields[Difference(path, MISSING, MISSING).field] = None
    return list(fields)


def _immutable_path(schema: Object, live: Object, path: Path) -> Path | None:
    """The beginning of a path that a rule holds; a field without a value may still get one."""
    for depth, node in enumerate(_schemas(schema, path)):
        rules = [str(rule.get("rule", "")) for rule in node.get("x-kubernetes-validations") or ()]
        texts = ["".join(rule.split()) for rule in rules]
        if any(text in _SAME for text in texts) and _is_set(live, path[:depth]):
            return path[:depth]
        if depth < len(path) and any(path[depth] in _members(text) for text in texts):
            return path[: depth + 1]
    return None


def _schemas(schema: Object, path: Path) -> Iterator[Object]:
    """The schemas from the root along a path."""
    yield schema
    for segment in path:
        inner = (schema.get("properties") or {}).get(segment)
        if inner is None and isinstance(schema.get("items"), dict):
            inner = schema["items"]
        if inner is None and isinstance(schema.get("additionalProperties"), dict):
            inner = schema["additionalProperties"]
        if not isinstance(inner, dict):
            return
        schema = inner
        yield schema


def _members(rule: str) -> set[str]:
    return {name for match in _MEMBER.findall(rule) for name in match if name}


def _is_set(live: Any, path: Path) -> bool:
    for segment in path:
        if not isinstance(live, dict) or segment not in live:
            return isinstance(live, list)
        live = live[segment]
    return True
