"""The Python files of a program: those in its directory, and the modules that they import by a link.

Programs of `up` projects have a link `model` to the generated models, of which they import a few.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping

from crossply.errors import CrossplyError

MOST_FILES = 5000
MOST_BYTES = 32 << 20
_LEFT_OUT = ("__pycache__", "node_modules", "site-packages", "dist", "build")


class ProgramTooLarge(CrossplyError):
    """A program in Python has more files than any should have."""

    code = "CP-542"
    hint = "keep virtual environments and data out of its directory"


def python_files(directory: str, root: str, packages: Mapping[str, str] | None = None) -> dict[str, str]:
    """The sources of a program by their paths in it.

    Links must lead to somewhere below `root`. `packages` are directories of packages, by their names.
    """
    collection = _Collection(directory, root, packages or {})
    for path in _own_files(directory):
        collection.add(path)
    while collection.pending:
        collection.add_imports(collection.pending.pop())
    return collection.files


def missing_modules(directory: str, files: Mapping[str, str], folder: str) -> set[str]:
    """The modules of a folder of the program that its files import at once, and that do not exist."""
    missing: set[str] = set()
    for path, text in files.items():
        for node in _parsed(text):
            if isinstance(node, ast.ImportFrom):
                module, *names = _targets(node, path)
                if f"{module}/".startswith(f"{folder}/"):
                    is_package = os.path.isdir(os.path.join(directory, module))
                    missing.update(
                        target.replace("/", ".")
                        for target in (names if is_package and not _defines(directory, module) else [module])
                        if not _is_module(directory, target)
                    )
    return missing


def relative_imports(files: Mapping[str, str], folder: str) -> set[str]:
    """The modules of a folder of the program that its files import at once, by relative imports."""
    modules = (
        next(_targets(node, path))
        for path, text in files.items()
        for node in _parsed(text)
        if isinstance(node, ast.ImportFrom) and node.level
    )
    return {module.replace("/", ".") for module in modules if f"{module}/".startswith(f"{folder}/")}


def _parsed(text: str) -> list[ast.stmt]:
    """The statements of a file; none if it is not valid: running it says what is wrong."""
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return []


def _defines(directory: str, package: str) -> bool:
    """Whether a package may have more names than its modules have."""
    file = os.path.join(directory, package, "__init__.py")
    return os.path.exists(file) and os.path.getsize(file) > 0


def _is_module(directory: str, path: str) -> bool:
    full = os.path.join(directory, path)
    return os.path.isfile(f"{full}.py") or os.path.isdir(full)


def _own_files(directory: str) -> Iterator[str]:
    """The Python files below a directory, not through links, by their paths in it."""
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in _LEFT_OUT)
        inside = os.path.relpath(folder, directory)
        yield from (
            os.path.normpath(os.path.join(inside, name)) for name in sorted(names) if name.endswith(".py")
        )


class _Collection:
    """The files of a program, while they are collected."""

    def __init__(self, directory: str, root: str, packages: Mapping[str, str]) -> None:
        self._directory = directory
        self._root = os.path.realpath(root)
        self._packages = packages
        self._size = 0
        self.files: dict[str, str] = {}
        self.pending: list[str] = []
        """Files whose imports have to be added yet."""

    def add(self, path: str) -> bool:
        """Add a file, if it exists and is below the root; whether it does."""
        if path in self.files:
            return True
        full = self._full(path)
        real = os.path.realpath(full)
        if not os.path.isfile(real) or os.path.commonpath((real, self._root)) != self._root:
            return False
        with open(real, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(MOST_BYTES + 1)
        self._size += len(text)
        if self._size > MOST_BYTES or len(self.files) >= MOST_FILES:
            raise ProgramTooLarge(
                f"{self._directory} has more than {MOST_FILES} Python files or {MOST_BYTES >> 20} MiB"
            )
        self.files[path] = text
        self.pending.append(path)
        return True

    def _full(self, path: str) -> str:
        package, _, rest = path.partition("/")
        if package in self._packages:
            return os.path.join(self._packages[package], rest)
        return os.path.join(self._directory, path)

    def add_imports(self, path: str) -> None:
        """Add the modules that a file imports, as far as they are the program's own."""
        statements = _parsed(self.files[path])
        for node in ast.walk(ast.Module(statements, [])):
            if isinstance(node, ast.ImportFrom):
                for target in _targets(node, path):
                    self._add_module(target)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    self._add_module(alias.name.replace(".", "/"))

    def _add_module(self, target: str) -> None:
        if target.startswith("..") or not target:
            return
        if self.add(f"{target}.py") or self.add(f"{target}/__init__.py"):
            parts = target.split("/")
            for count in range(1, len(parts)):
                self.add("/".join((*parts[:count], "__init__.py")))


def _targets(node: ast.ImportFrom, path: str) -> Iterator[str]:
    """The modules that an import may mean: what it names, and each name in that."""
    base = os.path.dirname(path) if node.level else ""
    for _ in range(node.level - 1):
        base = os.path.dirname(base)
    module = os.path.normpath(os.path.join(base, *(node.module or "").split("."))) if node.module else base
    yield module
    yield from (os.path.normpath(os.path.join(module, alias.name)) for alias in node.names)
