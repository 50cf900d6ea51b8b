"""Errors are values: adding to one returns a copy."""

from __future__ import annotations

import ast
from pathlib import Path

from crossply.errors import CrossplyError

SOURCE = Path(__file__).parents[1] / "src" / "crossply"
FIELDS = ("hint", "place", "args")


class Unreadable(CrossplyError):
    """An error with a field of its own."""

    code = "CP-100"

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message, place=f"file:{line}")
        self.line = line


def test_a_copy_keeps_the_class_and_every_field() -> None:
    error = Unreadable("no colon", 3)
    copy = error.within("cannot read a file").replace(hint="add one")
    assert (type(copy), str(copy), copy.line) == (Unreadable, "cannot read a file: no colon", 3)
    assert (copy.place, copy.hint) == ("file:3", "add one")
    assert (str(error), error.hint) == ("no colon", "")


def test_the_first_place_stays() -> None:
    assert CrossplyError("wrong").at("a").at("b").place == "a"


def test_a_copy_keeps_where_it_was_raised_and_why() -> None:
    try:
        try:
            int("x")
        except ValueError as cause:
            raise CrossplyError("wrong") from cause
    except CrossplyError as error:
        copy = error.within("deeper")
    assert isinstance(copy.__cause__, ValueError)
    assert copy.__traceback__ is not None


def test_no_error_is_changed_where_it_is_caught() -> None:
    changed = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        for handler in ast.walk(ast.parse(path.read_text()))
        if isinstance(handler, ast.ExceptHandler)
        for node in ast.walk(handler)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in FIELDS
        if isinstance(node.value, ast.Name) and node.value.id == handler.name
    ]
    assert changed == []
