"""The sources of tags and tag names: the input itself, a field of the XR, or the environment."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.function_messages import Request
from crossply.functions.builtin.environment_configs.function import CONTEXT_KEY
from crossply.functions.reply_limits import size_of
from crossply.values import Object
from crossply.values.field_path_read import get
from crossply.values.field_path_syntax import PathError

RETAIN = "Retain"
"""The policy that retains an existing tag; all others replace it."""


class Tags(NamedTuple):
    """Tags to set: those that replace existing tags, and those that do not."""

    replace: dict[str, str]
    retain: dict[str, str]

    @property
    def size(self) -> int:
        """How many bytes they add to a resource."""
        return size_of(self.replace) + size_of(self.retain)

    def over(self, present: Object) -> Object:
        """Merge these tags into the present ones."""
        return {**self.retain, **present, **self.replace}


class Sources:
    """Resolves the entries of an input."""

    __slots__ = ("_places",)

    def __init__(self, request: Request) -> None:
        composite = request.observed.composite
        self._places = {
            "FromCompositeFieldPath": composite.object if composite is not None else {},
            "FromEnvironmentFieldPath": (request.context or {}).get(CONTEXT_KEY),
        }

    def tags(self, entries: list[Object], member: str) -> Tags:
        """The tags that entries add; the first entry of a tag wins."""
        collected = Tags({}, {})
        for entry in entries:
            _fill(collected, entry, _texts(self._value(entry, member)))
        return collected

    def observed_tags(self, entries: list[Object], observed: Object) -> Tags:
        """The tags of an observed resource that entries name."""
        present = _texts(_get(observed, "status.atProvider.tags"))
        collected = Tags({}, {})
        for entry in entries:
            keys = _names(self._value(entry, "keys"))
            _fill(collected, entry, {key: present[key] for key in keys if key in present})
        return collected

    def names(self, entries: list[Object]) -> list[str]:
        return [name for entry in entries for name in _names(self._value(entry, "keys"))]

    def _value(self, entry: Object, member: str) -> Any:
        kind = entry.get("type") or "FromValue"
        if kind == "FromValue":
            return entry.get(member)
        return _get(self._places.get(kind), entry.get("fromFieldPath", ""))


def _fill(collected: Tags, entry: Object, tags: dict[str, str]) -> None:
    target = collected.retain if entry.get("policy") == RETAIN else collected.replace
    for name, value in tags.items():
        target.setdefault(name, value)


def _get(value: Any, path: str) -> Any:
    """The value at a path, or None: a missing field means no tags, as in the published function."""
    try:
        return get(value, path)
    except PathError:
        return None


def _texts(value: Any) -> dict[str, str]:
    """The tags, or none if any of them is no string."""
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        return {}
    return value


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return []
    return value
