"""Public names of the product are words of the field."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "crossply"
REPLACEMENTS = {
    "told": "message",
    "wish": "desired",
    "wishes": "options",
    "verdict": "result",
    "shelf": "cache",
    "complaint": "error",
    "woken": "notified",
}
"""Words that nobody searches for, each with a usual one."""


def public_names(file: Path) -> Iterator[tuple[str, int]]:
    yield file.stem, 1
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name[0] != "_":
            yield node.name, node.lineno


def words_of(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def test_modules_classes_and_functions_are_named_by_words_of_the_field() -> None:
    problems = [
        f"{file.relative_to(SOURCE)}:{line}: {name}: say {REPLACEMENTS[word]} instead of {word}"
        for file in sorted(SOURCE.rglob("*.py"))
        for name, line in public_names(file)
        for word in words_of(name)
        if word in REPLACEMENTS
    ]
    assert not problems, "\n".join(problems)
