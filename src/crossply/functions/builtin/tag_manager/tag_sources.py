"""Where tags and the names of tags come from: the input itself, a field of the XR, or the environment."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.messages import Request
from crossply.functions.builtin.environment_configs.function import CONTEXT_KEY
from crossply.values import Object
from crossply.values.path_read import get
from crossply.values.path_syntax import PathError

RETAIN = "Retain"
"""The policy that leaves a tag as it is where there is one; every other replaces it."""


class Tags(NamedTuple):
    """Tags to set: those that win over what is there, and those that only fill gaps."""

    replace: dict[str, str]
    retain: dict[str, str]

    def over(self, present: Object) -> Object:
        """Present tags with these set."""
        return {**self.retain, **present, **self.replace}


class Sources:
    """What the entries of an input refer to."""

    __slots__ = ("_places",)

    def __init__(self, request: Request) -> None:
        composite = request.observed.composite
        self._places = {
            "FromCompositeFieldPath": composite.object if composite is not None else {},
            "FromEnvironmentFieldPath": (request.context or {}).get(CONTEXT_KEY),
        }

    def tags(self, entries: list[Object], member: str) -> Tags:
        """The tags that entries add; of two that name the same one the first counts."""
        found = Tags({}, {})
        for entry in entries:
            _fill(found, entry, _texts(self._value(entry, member)))
        return found

    def observed_tags(self, entries: list[Object], observed: Object) -> Tags:
        """The tags of an observed resource that entries name."""
        present = _texts(_at(observed, "status.atProvider.tags"))
        found = Tags({}, {})
        for entry in entries:
            keys = _names(self._value(entry, "keys"))
            _fill(found, entry, {key: present[key] for key in keys if key in present})
        return found

    def names(self, entries: list[Object]) -> list[str]:
        """The names that entries list."""
        return [name for entry in entries for name in _names(self._value(entry, "keys"))]

    def _value(self, entry: Object, member: str) -> Any:
        kind = entry.get("type") or "FromValue"
        if kind == "FromValue":
            return entry.get(member)
        return _at(self._places.get(kind), entry.get("fromFieldPath", ""))


def _fill(found: Tags, entry: Object, tags: dict[str, str]) -> None:
    target = found.retain if entry.get("policy") == RETAIN else found.replace
    for name, value in tags.items():
        target.setdefault(name, value)


def _at(value: Any, path: str) -> Any:
    """A field, or None: a path that leads nowhere stands for no tags, as in the published function."""
    try:
        return get(value, path)
    except PathError:
        return None


def _texts(value: Any) -> dict[str, str]:
    """Tags as they are, or none at all if one of them is no text."""
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        return {}
    return value


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return []
    return value
