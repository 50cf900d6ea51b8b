"""What exists in the repository, to compare with the pages."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from tests.support.paths import ROOT
from tests.support.programs import find

SOURCE = ROOT / "src" / "crossply"


@functools.cache
def files() -> frozenset[str]:
    """Every file that belongs to the repository."""
    git = find("git")
    if git is None or not (ROOT / ".git").exists():
        return frozenset(str(path.relative_to(ROOT)) for path in _walk(ROOT) if path.is_file())
    words = [git, "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return frozenset(listed.stdout.splitlines())


def _walk(directory: Path) -> Iterator[Path]:
    for path in directory.iterdir():
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        yield path
        if path.is_dir():
            yield from _walk(path)


@functools.cache
def paths() -> frozenset[str]:
    """Every file and directory, also by its path below a room of the code and below the tests."""
    known = set(files())
    for name in files():
        parents = [str(parent) for parent in Path(name).parents if str(parent) != "."]
        known.update(parents)
    for prefix in ("src/crossply/", "src/crossply/control/", "tests/"):
        known |= {name.removeprefix(prefix) for name in known if name.startswith(prefix)}
    return frozenset(known)


@functools.cache
def modules() -> frozenset[str]:
    """Every module of the program, as `room/module` and by each shorter end of that path."""
    names = set()
    for path in [*SOURCE.rglob("*.py"), *(path for path in SOURCE.rglob("*") if path.is_dir())]:
        parts = path.relative_to(SOURCE).with_suffix("").parts
        names |= {"/".join(parts[start:]) for start in range(len(parts))}
    return frozenset(names)


@functools.cache
def identifiers() -> frozenset[str]:
    """Every name in the program and its tests: of functions, classes, arguments, variables and attributes."""
    names: set[str] = set()
    for path in (path for folder in (SOURCE, ROOT / "tests") for path in folder.rglob("*.py")):
        code = compile(path.read_text(), str(path), "exec", dont_inherit=True)
        names.update(_names_in(code))
    return frozenset(names)


def _names_in(code: CodeType) -> Iterator[str]:
    """The names that compiled code has; much quicker than walking its syntax tree."""
    yield code.co_name
    yield from (*code.co_names, *code.co_varnames, *code.co_cellvars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


@functools.cache
def strings() -> tuple[tuple[str, int, str], ...]:
    """Every string in the program: its file, its line, its text; what is formatted into it reads `X`."""
    texts = []
    for path in sorted(SOURCE.rglob("*.py")):
        if "proto" in path.parts:
            continue
        tree = ast.parse(path.read_text())
        skipped = {id(node) for node in _docstrings(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                skipped |= {id(value) for value in node.values}
                texts.append((str(path.relative_to(ROOT)), node.lineno, _joined(node)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
                texts.append((str(path.relative_to(ROOT)), node.lineno, node.value))
    return tuple(texts)


def _joined(node: ast.JoinedStr) -> str:
    return "".join(str(value.value) if isinstance(value, ast.Constant) else "X" for value in node.values)


def _docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    """Docstrings of modules, classes and functions, and those below a constant."""
    for node in ast.walk(tree):
        statements = getattr(node, "body", ())
        for statement in statements if isinstance(statements, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield statement.value


@functools.cache
def text_of(*patterns: str) -> str:
    """All the text of the files that patterns match."""
    return "\n".join(
        path.read_text() for pattern in patterns for path in sorted(ROOT.glob(pattern)) if path.is_file()
    )


@functools.cache
def matches_in(pattern: str, *patterns: str) -> frozenset[str]:
    """Everything that a regular expression finds in the text of files."""
    return frozenset(re.findall(pattern, text_of(*patterns), re.M))
