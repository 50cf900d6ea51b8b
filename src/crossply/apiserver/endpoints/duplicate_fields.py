"""Finds duplicate fields in a body: the last one counts, and field validation decides whether to report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson

_KEY_SIGN = re.compile(rb'"\s*:')
MOST_REPORTED = 100
"""How many duplicate fields of one body are reported."""
LONGEST_PATH = 1024
"""How many characters of a path are reported."""
_YAML_HEAD = "yaml: unmarshal errors:\n  "


def is_free_of_repeats(body: bytes, value: Any) -> bool:
    """Whether a JSON body certainly has no duplicates; its decoded value is known already."""
    # Counting is fast: there are as many keys as colons, unless a string has some or a key is a duplicate.
    return body[:1] == b"{" and len(_KEY_SIGN.findall(body)) == _fewest_keys(value)


def repeated_in_json(body: bytes, value: Any) -> list[str]:
    """The paths of the duplicate fields of a body."""
    if is_free_of_repeats(body, value):
        return []
    paths: dict[str, None] = {}
    for path in _repeats(_in_order(body), []):
        paths[path] = None
        if len(paths) == MOST_REPORTED:
            break
    return list(paths)


def repeated_in_yaml(body: bytes) -> str:
    """The error of Go's strict YAML decoder about duplicate keys; empty if there are none."""
    from crossply.values.yaml import YamlError, load

    try:
        load(body, strict=True)
    except YamlError as problem:
        return str(problem) if str(problem).startswith(_YAML_HEAD) else ""
    return ""


def yaml_lines(text: str) -> list[str]:
    """The single problems in a result of `repeated_in_yaml`."""
    return text.removeprefix(_YAML_HEAD).split("\n  ") if text else []


def by_place(body: bytes, problems: list[str]) -> list[str]:
    """Sort problems with unknown and duplicate fields by their position in a JSON body."""
    paths = {problem.partition(" field ")[2][1:-1] for problem in problems}
    first: dict[str, int] = {}
    second: dict[str, int] = {}
    for place, path in _places_of(paths, _in_order(body)):
        (second if path in first else first).setdefault(path, place)

    def place_of(problem: str) -> int:
        kind, _, path = problem.partition(" field ")
        return (second if kind == "duplicate" else first).get(path[1:-1], 0)

    return sorted(problems, key=place_of)


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object in order, with duplicates."""


def _in_order(body: bytes) -> Any:
    # As lenient as the decoder of the value: invalid UTF-8, and numbers of any length.
    text = body.decode("utf-8", "replace")
    return json.loads(text, object_pairs_hook=_Members, parse_int=str, parse_float=str)


def _repeats(value: Any, above: list[str]) -> Iterator[str]:
    """The path of each duplicate member. `above` are the parts of the path so far."""
    if isinstance(value, _Members):
        keys: set[str] = set()
        for key, member in value:
            part = f".{key}" if above else key
            if key in keys:
                yield _shortened("".join([*above, part]))
            keys.add(key)
            above.append(part)
            yield from _repeats(member, above)
            above.pop()
    elif isinstance(value, list):
        for index, item in enumerate(value):
            above.append(f"[{index}]")
            yield from _repeats(item, above)
            above.pop()


def _places_of(paths: set[str], body: Any) -> Iterator[tuple[int, str]]:
    """The position of each of these paths in a body, by the number of members before it."""
    lengths = {len(path) for path in paths}
    place = 0

    def walk(value: Any, above: list[str], length: int) -> Iterator[tuple[int, str]]:
        nonlocal place
        if isinstance(value, _Members):
            for key, member in value:
                part = f".{key}" if above else key
                # Paths are joined only where one may match: there may be many, below a long key.
                if length + len(part) in lengths and (path := "".join([*above, part])) in paths:
                    yield place, path
                place += 1
                yield from walk(member, [*above, part], length + len(part))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                part = f"[{index}]"
                yield from walk(item, [*above, part], length + len(part))

    return walk(body, [], 0)


def _shortened(path: str) -> str:
    half = LONGEST_PATH // 2
    return path if len(path) <= LONGEST_PATH else f"{path[:half]}…{path[-half:]}"


def _fewest_keys(value: Any) -> int:
    """How many keys a value has; fewer where one of them ends in a backslash."""
    try:
        text = orjson.dumps(value)
    except TypeError:  # a number of any length
        return _count_keys(value)
    # Writing and searching is several times as fast as counting. In a string, quotes follow a backslash.
    return text.count(b'":') - text.count(b'\\":')


def _count_keys(value: Any) -> int:
    if type(value) is dict:
        return len(value) + sum(map(_count_keys, value.values()))
    if type(value) is list:
        return sum(map(_count_keys, value))
    return 0
