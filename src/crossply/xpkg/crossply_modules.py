"""Which files of Crossply a program needs: the modules that it imports, and all that they import.

Images of functions and providers, and the distribution `crossply-sdk`, have these files and no others. The
imports are read from the sources, also those inside functions; imports for type checkers do not count.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator

NAME = "crossply"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The directory of the package that is running."""

_ALWAYS = ("__init__.py", "py.typed", "version.py")


def own_files(modules: Iterable[str], root: str = ROOT) -> list[str]:
    """The files of modules and of whole packages with all that they import: relative paths, in order."""
    files, done, pending = set(_ALWAYS), set[str](), list(modules)
    if NAME in pending:
        return sorted(_tree(root, root))
    while pending:
        module = pending.pop()
        if module in done:
            continue
        done.add(module)
        for file in _files(module, root):
            if file not in files:
                files.add(file)
                pending += _imported(os.path.join(root, file), root)
    return sorted(files)


def imported_modules(source: str | bytes) -> Iterator[str]:
    """The modules that a program imports, and the names that it imports from modules, with their dots.

    Raises SyntaxError for a program in another version of Python.
    """
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and _is_for_type_checkers(node.test):
            pending += node.orelse
        else:
            pending += ast.iter_child_nodes(node)


def _is_for_type_checkers(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def own_imports(names: Iterable[str], root: str = ROOT) -> list[str]:
    """The modules of our own among imported names. Of a package, importing it loads its `__init__` only."""
    own = (name for name in names if name.startswith(f"{NAME}."))
    return [f"{name}.__init__" if os.path.isdir(_path(name, root)) else name for name in own]


def _imported(path: str, root: str) -> list[str]:
    if not path.endswith(".py"):
        return []
    with open(path, encoding="utf-8") as file:
        return own_imports(imported_modules(file.read()), root)


def _files(module: str, root: str) -> Iterator[str]:
    """The files of a module, or of a package with all in it; and the `__init__` of the packages around it."""
    parts = module.split(".")
    for count in range(2, len(parts)):
        outer = os.path.join(*parts[1:count], "__init__.py")
        if os.path.isfile(os.path.join(root, outer)):
            yield outer
    path = _path(module, root)
    if os.path.isdir(path):
        yield from _tree(path, root)
    elif os.path.isfile(f"{path}.py"):
        yield os.path.relpath(f"{path}.py", root)


def _path(module: str, root: str) -> str:
    return os.path.join(root, *module.split(".")[1:])


def _tree(path: str, root: str) -> Iterator[str]:
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (
            os.path.relpath(os.path.join(folder, name), root) for name in names if name[-4:] != ".pyc"
        )
