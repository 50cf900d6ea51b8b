"""Copying every leaf of an object onto another at the same field path.

Paths are written as text and parsed again, as the published function does it: a period in a key separates two
fields, except in annotations and labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.kcl.response_state import OutputRefused
from crossply.values import Object
from crossply.values.field_path_read import get
from crossply.values.field_path_syntax import PathError, PathNotFound
from crossply.values.field_path_write import set_value
from crossply.values.goformat import sprintf

_BRACKETED = (".metadata.annotations", ".metadata.labels")


def copy_fields(source: Object, target: Object, skipped: tuple[str, ...], purpose: str) -> None:
    """Set the leaves of the source in the target, which is changed; raises OutputRefused."""
    for path, value in _leaves(source, ""):
        if path in skipped:
            continue
        try:
            _copy(target, path, value)
        except OutputRefused as error:
            raise OutputRefused(f"{purpose}: {error}") from None


def _copy(target: Object, path: str, value: Any) -> None:
    shown = f"{path}:{_shown(value)}"
    try:
        get(target, path)
    except PathNotFound:
        pass
    except PathError as error:
        raise OutputRefused(f"getting {shown} in xr failed: {error}") from None
    try:
        set_value(target, path, value)
    except PathError as error:
        raise OutputRefused(f"setting {shown} in dxr failed: {error}") from None


def _shown(value: Any) -> str:
    """The value as Go prints it; whole numbers are what its YAML decoder calls `int`."""
    if isinstance(value, float) and value.is_integer():
        return f"%!s(int={int(value)})"
    return sprintf("%s", (value,))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The paths and values of what is neither an object nor a list; empty ones have none."""
    if isinstance(value, dict):
        is_bracketed = path.endswith(_BRACKETED)
        for key, member in value.items():
            yield from _leaves(member, f"{path}[{key}]" if is_bracketed else f"{path}.{key}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _leaves(member, f"{path}[{index}]")
    else:
        yield path.removeprefix("."), value
