"""Whether a program depends on modules of registries: found out without fetching any."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.functions.builtin.kcl.dependency_resolution import resolve_dependencies
from crossply.functions.builtin.kcl.module_directory import ModuleTree
from crossply.functions.builtin.kcl.module_failures import ModuleError
from crossply.functions.builtin.kcl.module_manifest import read_dependencies
from crossply.functions.builtin.kcl.module_source_policy import access_of


class _Fetched(Exception):
    """A module would be fetched. It never leaves this module."""


def depends_on_registry(
    dependencies: str, directory: str = "", readable: Iterable[str] = (), models: str = ""
) -> bool:
    """Whether `dependencies` of an input, or the module in a directory, name a module of a registry.

    Those that they depend on count, too. What cannot be read is no reason: running the program says why.
    """
    access = access_of({}, *readable, models=models)
    try:
        main = ModuleTree(directory, access) if directory else None
        resolve_dependencies(main, read_dependencies(dependencies), access, _fetch)
    except _Fetched:
        return True
    except ModuleError:
        return False
    return False


def _fetch(address: str, version: str) -> ModuleTree:
    raise _Fetched
