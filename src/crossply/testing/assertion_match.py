"""Assertions of published tests (`assertResources`): which object each one means, and how the two compare.

They mean what they mean to `up test`, which compares by Kyverno's assertion trees: of a map, the fields that
are written must be there; a list has exactly the items that are written, in this order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from crossply.compose.object_metadata import annotations_of, metadata_of, name_of
from crossply.testing.suite import Path
from crossply.testing.suite_field_reader import SuiteError
from crossply.values import Object
from crossply.values.differences import MISSING

_EXPRESSION = re.compile(r"\(.+\)|~\w*\..*|.*->\s*\w+")
_ESCAPED = re.compile(r"\\(.+)\\")
_OWNER_UID = ("metadata", "ownerReferences")


class Unequal(NamedTuple):
    """A field that is not as it was asserted."""

    path: Path
    expected: Any
    actual: Any

    @property
    def field(self) -> str:
        """The path as users write it."""
        text = ""
        for segment in self.path:
            text += f"[{segment}]" if isinstance(segment, int) else f".{segment}" if text else segment
        return text


def candidates(expected: Object, rendered: Sequence[Object]) -> list[Object]:
    """The rendered objects that an assertion can mean: by type, by name if it has one, and by annotations."""
    return [obj for obj in rendered if _is_meant(expected, obj)]


def _is_meant(expected: Object, actual: Object) -> bool:
    if any(expected.get(field, "") != actual.get(field, "") for field in ("apiVersion", "kind")):
        return False
    if name_of(expected) and name_of(expected) != name_of(actual):
        return False
    annotations = annotations_of(actual)
    expected_annotations = metadata_of(expected).get("annotations")
    return all(annotations.get(key) == value for key, value in (expected_annotations or {}).items())


def unequal_fields(expected: Any, actual: Any, path: Path = ()) -> Iterator[Unequal]:
    """Every field of an assertion that an object does not have like that."""
    if isinstance(expected, dict):
        yield from _unequal_in_map(expected, actual, path)
    elif isinstance(expected, list):
        yield from _unequal_in_list(expected, actual, path)
    elif not _is_equal(_plain(expected, path), actual) and not _is_any_owner(path, expected):
        yield Unequal(path, expected, actual)


def _unequal_in_map(expected: Object, actual: Any, path: Path) -> Iterator[Unequal]:
    if not isinstance(actual, dict):
        if expected or actual is None:
            yield Unequal(path, expected, actual)
        return
    for key, value in expected.items():
        name = _plain(key, (*path, key))
        if name not in actual:
            # Also where null is asserted: a field that is not there has no value to compare.
            yield Unequal((*path, key), value, MISSING)
        else:
            yield from unequal_fields(value, actual[name], (*path, key))


def _unequal_in_list(expected: list[Any], actual: Any, path: Path) -> Iterator[Unequal]:
    if not isinstance(actual, list) or len(actual) != len(expected):
        yield Unequal(path, expected, actual)
        return
    for index, (item, other) in enumerate(zip(expected, actual, strict=True)):
        yield from unequal_fields(item, other, (*path, index))


def _is_equal(expected: Any, actual: Any) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return expected == actual
    return type(expected) is type(actual) and bool(expected == actual)


def _is_any_owner(path: Path, expected: Any) -> bool:
    """An owner without a UID: earlier renderers gave the composite resource none."""
    return expected == "" and path[:2] == _OWNER_UID and path[-1] == "uid"


def _plain(value: Any, path: Path) -> Any:
    """A key or text as it is compared; what would be an expression is refused."""
    if not isinstance(value, str):
        return value
    escaped = _ESCAPED.fullmatch(value)
    if escaped:
        return escaped[1]
    if _EXPRESSION.fullmatch(value):
        raise SuiteError(
            f"{Unequal(path, value, None).field}: expressions in assertions are not evaluated",
            hint="assert the value itself; a text that only looks like an expression is written "
            "between backslashes: \\(text)\\",
        )
    return value
