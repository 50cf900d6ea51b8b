"""What goes wrong in a script."""

from __future__ import annotations


class EvalError(Exception):
    """A script fails while it runs."""


class CompileError(Exception):
    """A script cannot be compiled. The message begins with its place."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")
