"""Fields that a body has twice: the last one counts, and the client is told if it wants to know."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_KEY_SIGN = re.compile(rb'"\s*:')
_YAML_HEAD = "yaml: unmarshal errors:\n  "


def is_free_of_repeats(body: bytes, value: Any) -> bool:
    """Whether a body of JSON certainly repeats nothing; its value is known already."""
    # Counting is fast, and there are as many keys as colons unless a text holds some or a key is repeated.
    return body[:1] == b"{" and len(_KEY_SIGN.findall(body)) == _count_keys(value)


def repeated_in_json(body: bytes, value: Any) -> list[str]:
    """The paths of the repeated fields of a body."""
    if is_free_of_repeats(body, value):
        return []
    found: dict[str, None] = {}
    seen: set[str] = set()
    for path in _occurrences(_in_order(body), ""):
        if path in seen:
            found[path] = None
        seen.add(path)
    return list(found)


def repeated_in_yaml(body: bytes) -> str:
    """What Go's strict reader of YAML says of repeated keys; empty if there are none."""
    from crossply.values.yaml import YamlError, load

    try:
        load(body, strict=True)
    except YamlError as problem:
        return str(problem) if str(problem).startswith(_YAML_HEAD) else ""
    return ""


def yaml_lines(told: str) -> list[str]:
    """The single complaints in what `repeated_in_yaml` says."""
    return told.removeprefix(_YAML_HEAD).split("\n  ") if told else []


def by_place(body: bytes, complaints: list[str]) -> list[str]:
    """Complaints about unknown and repeated fields in the order in which a JSON body has the fields."""
    first: dict[str, int] = {}
    second: dict[str, int] = {}
    for place, path in enumerate(_occurrences(_in_order(body), "")):
        (second if path in first else first).setdefault(path, place)

    def place_of(complaint: str) -> int:
        kind, _, path = complaint.partition(" field ")
        return (second if kind == "duplicate" else first).get(path[1:-1], 0)

    return sorted(complaints, key=place_of)


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object in their order, repeated ones included."""


def _in_order(body: bytes) -> Any:
    # As lenient as those who read the value: bytes that are no UTF-8, and numbers of any length.
    text = body.decode("utf-8", "replace")
    return json.loads(text, object_pairs_hook=_Members, parse_int=str, parse_float=str)


def _occurrences(value: Any, path: str) -> Iterator[str]:
    """The path of each member of each object, as they come."""
    if isinstance(value, _Members):
        for key, member in value:
            at = f"{path}.{key}" if path else key
            yield at
            yield from _occurrences(member, at)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _occurrences(item, f"{path}[{index}]")


def _count_keys(value: Any) -> int:
    if type(value) is dict:
        return len(value) + sum(map(_count_keys, value.values()))
    if type(value) is list:
        return sum(map(_count_keys, value))
    return 0
