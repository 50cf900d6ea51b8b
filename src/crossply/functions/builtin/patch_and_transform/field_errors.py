"""What is wrong with a field of the input, said the way Kubernetes says it."""

from __future__ import annotations

from crossply.values.goquote import quote


class FieldError(Exception):
    """A field of the input is missing or not valid; the message names its path."""


def required(path: str, detail: str) -> FieldError:
    """A field that must be there is not."""
    return FieldError(f"{path}: Required value: {detail}")


def invalid(path: str, value: str, detail: str) -> FieldError:
    """A field has a value that it must not have."""
    return FieldError(f"{path}: Invalid value: {quote(value)}: {detail}")


def duplicate(path: str, value: str) -> FieldError:
    """A value that must be unique is not."""
    return FieldError(f"{path}: Duplicate value: {quote(value)}")
