"""Fresh copies of the same object, over and over: every run starts from the base of each template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.values import Object


def copier(original: Object) -> Callable[[], Object]:
    """Make a closure that copies an object. It knows where the containers are and need not look."""
    containers: list[Any] = [original]
    inner: list[tuple[int, Any, Any]] = []
    for at, container in enumerate(containers):  # the list grows as inner containers are found
        items = container.items() if type(container) is dict else enumerate(container)
        for key, value in items:
            if type(value) is dict or type(value) is list:
                containers.append(value)
                inner.append((at, key, value))
    return _copier(original, tuple(inner))


def _copier(original: Object, inner: tuple[tuple[int, Any, Any], ...]) -> Callable[[], Object]:
    if not inner:
        return original.copy

    def copy() -> Object:
        root = original.copy()
        copies: list[Any] = [root]
        for outer, key, value in inner:
            copied = copies[outer][key] = value.copy()
            copies.append(copied)
        return root

    return copy
