"""Helpers of tests are in `tests/support`: no test module and no conftest is imported by another module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.paths import ROOT, TESTS


def imported_modules(file: Path) -> Iterator[str]:
    """The modules that a file imports: of a name the module that it is in, and the name, which may be one."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def is_of_tests(module: str) -> bool:
    """Whether pytest collects the module, or loads it by itself."""
    parts = module.split(".")
    return parts[0] == "tests" and any(part == "conftest" or part.startswith("test_") for part in parts)


def test_no_test_module_is_imported() -> None:
    problems = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in sorted(TESTS.rglob("*.py"))
        for module in imported_modules(file)
        if is_of_tests(module)
    ]
    assert not problems, "\n".join(problems)
