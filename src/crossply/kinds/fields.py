"""Read the fields of an untrusted object.

Every parser of `kinds` uses `Fields`: a field that is absent or null reads as its zero value, as
it does for the API server, and a field of the wrong type is an error that names the field in plain words.
So no input, however broken, ends in a KeyError.
"""

from __future__ import annotations

from typing import Any

from crossply.errors import CrossplyError
from crossply.values import Object


class KindError(CrossplyError):
    """An object does not have the shape that its kind requires."""

    code = "CP-410"
    hint = "compare the field with the reference of the kind"


class Fields:
    """One JSON object at a known place, read field by field."""

    __slots__ = ("_error", "_path", "_value")

    def __init__(self, value: Any, path: str = "", error: type[KindError] = KindError) -> None:
        self._path = path
        self._error = error
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.wrong("must be an object, not " + _name_of(value))
        self._value: Object = value

    def wrong(self, problem: str, key: str = "") -> KindError:
        """An error about this object, or about one of its fields."""
        place = self.place(key)
        return self._error(f"{place}: {problem}" if place else problem)

    def place(self, key: str = "") -> str:
        """The path of a field, as a user would write it."""
        if not key:
            return self._path
        return f"{self._path}.{key}" if self._path else key

    def has(self, key: str) -> bool:
        """Whether the field is there and not null."""
        return self._value.get(key) is not None

    def as_dict(self) -> Object:
        """The whole object as it was written."""
        return self._value

    def raw(self, key: str) -> Any:
        """The value of a field as it was written; None when it is absent."""
        return self._value.get(key)

    def text(self, key: str) -> str:
        """A string field; empty when it is absent."""
        return self.optional_text(key) or ""

    def optional_text(self, key: str) -> str | None:
        """A string field, or None when it is absent."""
        value = self._value.get(key)
        if value is None or isinstance(value, str):
            return value
        text = yaml_text(value)
        if text is None:
            raise self.wrong("must be a string, not " + _name_of(value), key)
        return text

    def integer(self, key: str) -> int | None:
        """An integer field, or None when it is absent."""
        value = self._value.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise self.wrong("must be an integer, not " + _name_of(value), key)

    def flag(self, key: str) -> bool | None:
        """A boolean field, or None when it is absent."""
        value = self._value.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise self.wrong("must be true or false, not " + _name_of(value), key)

    def object(self, key: str) -> Fields:
        """The reader of an object field; it reads as empty when the field is absent."""
        return Fields(self._value.get(key), self.place(key), self._error)

    def optional_dict(self, key: str) -> Object | None:
        """An object field as it was written, or None when it is absent."""
        return self.object(key)._value if self.has(key) else None

    def objects(self, key: str) -> list[Fields]:
        """The readers of a list of objects."""
        path = self.place(key)
        return [Fields(item, f"{path}[{i}]", self._error) for i, item in enumerate(self.items(key))]

    def items(self, key: str) -> list[Any]:
        """A list field as it was written; empty when it is absent."""
        value = self._value.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong("must be a list, not " + _name_of(value), key)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; empty when the field is absent."""
        items = self.items(key)
        for i, item in enumerate(items):
            if not isinstance(item, str):
                raise self.wrong("must be a string, not " + _name_of(item), f"{key}[{i}]")
        return tuple(items)

    def string_map(self, key: str) -> dict[str, str]:
        """A map of strings such as labels; empty when the field is absent."""
        fields = self.object(key)
        return {name: fields.text(name) for name in fields._value}

    def optional_string_map(self, key: str) -> dict[str, str] | None:
        """A map of strings, or None when the field is absent."""
        return self.string_map(key) if self.has(key) else None


def yaml_text(value: Any) -> str | None:
    """Return the text of a YAML scalar in a string field, or None for a list or an object.

    Crossplane's YAML reader knows the type of the field: `version: 5` in a string field is the text "5".
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return _float_text(value) if isinstance(value, float) else None


def _float_text(value: float) -> str:
    from crossply.values.gonumbers import format_float

    return format_float(value, "g", -1)


def _name_of(value: Any) -> str:
    """What kind of JSON value this is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"
