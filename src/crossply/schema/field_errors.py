"""Errors of fields, with Kubernetes' messages.

Every check of this room (`validation`, `list_and_embedded_checks`, `prune`, `cel_object_validation`) answers
with a list of these; the command line prints their text, an API server turns them into the causes of a
Status.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple


class Omitted:
    """The type of `OMITTED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "OMITTED"


OMITTED: Final = Omitted()
"""A value that is not shown: the rule concerns a whole object or list."""

INVALID: Final = "FieldValueInvalid"
TYPE_INVALID: Final = "FieldValueTypeInvalid"
REQUIRED: Final = "FieldValueRequired"
NOT_SUPPORTED: Final = "FieldValueNotSupported"
DUPLICATE: Final = "FieldValueDuplicate"
FORBIDDEN: Final = "FieldValueForbidden"
TOO_LONG: Final = "FieldValueTooLong"
TOO_MANY: Final = "FieldValueTooMany"

_TITLES = {
    INVALID: "Invalid value",
    TYPE_INVALID: "Invalid value",
    REQUIRED: "Required value",
    NOT_SUPPORTED: "Unsupported value",
    DUPLICATE: "Duplicate value",
    FORBIDDEN: "Forbidden",
    TOO_LONG: "Too long",
    TOO_MANY: "Too many",
}
_VALUE_NOT_SHOWN = (REQUIRED, FORBIDDEN, TOO_LONG)


MAX_ERRORS = 100
"""How many errors of one object are reported. More would only take long to write."""


class FieldError(NamedTuple):
    """One failed check: its kind (a Status cause reason), the field's path, the value and a sentence."""

    kind: str
    path: str
    value: Any
    detail: str

    @property
    def field(self) -> str:
        """The path as Kubernetes writes it; the root of an object has none."""
        return self.path or "<nil>"

    def body(self) -> str:
        """Return the text without the field's path, as the message of a Status cause."""
        text = _TITLES[self.kind]
        if self.kind not in _VALUE_NOT_SHOWN and self.value is not OMITTED:
            text = f"{text}: {_shown(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body()}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int | float):
        return shown_number(value)
    from crossply.values.gojson import dumps

    return dumps(value)


def quote(text: str) -> str:
    """Quote a text as Go's %q does."""
    from crossply.values.goformat import sprintf

    return sprintf("%q", [text])


def shown_number(value: float) -> str:
    """Write a number as Go's %v does."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    from crossply.values.goformat import sprintf

    return sprintf("%v", [value])


def unsupported(path: str, value: Any, allowed: list[str]) -> FieldError:
    """The value is not one of the allowed ones."""
    return FieldError(NOT_SUPPORTED, path, value, _supported_values(tuple(allowed)))


@lru_cache(maxsize=8)
def _supported_values(allowed: tuple[str, ...]) -> str:
    """Made once for a list: there may be thousands in it, and thousands of values that are not."""
    listed = ", ".join(quote(option) for option in allowed)
    return f"supported values: {listed}" if allowed else ""


def too_long(path: str, limit: int) -> FieldError:
    """The text is too long; Kubernetes counts characters, and its message has bytes."""
    return FieldError(
        TOO_LONG, path, "<value omitted>", f"may not be more than {limit} byte{'' if limit == 1 else 's'}"
    )


def too_many(path: str, count: int, limit: int) -> FieldError:
    """The list or object has too many members."""
    return FieldError(TOO_MANY, path, count, f"must have at most {limit} item{'' if limit == 1 else 's'}")
