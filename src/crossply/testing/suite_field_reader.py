"""Reads objects strictly: an unknown field is an error, because a misspelt expectation would never fail."""

from __future__ import annotations

from typing import Any

from crossply.kinds.fields import Fields, KindError
from crossply.testing.suite import Path


class SuiteError(KindError):
    """A suite of tests has a field that cannot be understood."""

    code = "CP-540"
    hint = "every field is described in docs/how-to/test-compositions.md"


class Reader:
    """One object of a suite with its path, for lines, beside its fields."""

    __slots__ = ("fields", "path")

    def __init__(self, value: Any, path: Path, known: tuple[str, ...]) -> None:
        self.path = path
        self.fields = Fields(value, _written(path), SuiteError)
        for key in self.fields.as_dict():
            if key not in known:
                raise self.fields.wrong(f"unknown field; there are {', '.join(known)}", key)

    def reader(self, key: str, known: tuple[str, ...]) -> Reader:
        """The reader of an object in a field."""
        return Reader(self.fields.raw(key), (*self.path, key), known)

    def readers(self, key: str, known: tuple[str, ...]) -> list[Reader]:
        """The readers of the objects in a list."""
        items = self.fields.items(key)
        return [Reader(item, (*self.path, key, index), known) for index, item in enumerate(items)]


def one_of(fields: Fields, key: str, choices: tuple[str, ...]) -> str | None:
    """A field with a fixed set of values, or None."""
    value = fields.optional_text(key)
    if value is not None and value not in choices:
        raise fields.wrong(f'must be {" or ".join(choices)}, not "{value}"', key)
    return value


def _written(path: Path) -> str:
    text = ""
    for segment in path:
        text += f"[{segment}]" if isinstance(segment, int) else f".{segment}" if text else segment
    return text
