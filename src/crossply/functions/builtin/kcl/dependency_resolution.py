"""The modules that a program can import: its dependencies, and theirs, by name.

A name stands for one module in the whole program. Where modules want different versions of it, the highest is
used. Copies in the directory `vendor` of the first module are used before anything is fetched.
Whether a program depends on modules of registries is found out without fetching any.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from crossply.functions.builtin.kcl.module_failures import CONTAINER_HINT, ModuleError
from crossply.functions.builtin.kcl.module_file_reader import VENDOR, ModuleTree
from crossply.functions.builtin.kcl.module_manifest import LOCK, Dependency, read_dependencies, read_sums
from crossply.functions.builtin.kcl.module_source_policy import ModuleAccess, access_of
from crossply.values.semver import InvalidVersion, compare, parse

_MAX_MODULES = 200
_MODELS, _LINKS = "models", ("model", "models")
"""The package of a project's generated models, and what the links to it are called."""

Fetch = Callable[[str, str], ModuleTree]
"""The module of an OCI address and a version, which may be empty; raises ModuleError."""


class _Pending(NamedTuple):
    dependency: Dependency
    parent: ModuleTree | None
    """None for dependencies of an input."""


class _Chosen(NamedTuple):
    version: str
    tree: ModuleTree


def resolve_dependencies(
    main: ModuleTree | None, declared: Iterable[Dependency], access: ModuleAccess, fetch: Fetch
) -> dict[str, ModuleTree]:
    """The modules by import name: those of the main module's kcl.mod, and further declared ones."""
    pending = [_Pending(dependency, None) for dependency in declared]
    if main is not None:
        pending += [_Pending(dependency, main) for dependency in main.manifest.dependencies]
    chosen: dict[str, _Chosen] = {}
    loaded = 0
    while pending:
        request = pending.pop(0)
        name = request.dependency.alias
        if name in chosen and not _is_higher(request.dependency.version, chosen[name].version):
            continue
        tree = _load(request, main, access, fetch)
        chosen[name] = _Chosen(request.dependency.version or tree.manifest.version, tree)
        loaded += 1
        if loaded > _MAX_MODULES:
            raise ModuleError(f"the program has more than {_MAX_MODULES} modules")
        pending += [_Pending(dependency, tree) for dependency in tree.manifest.dependencies]
    return {name: module.tree for name, module in chosen.items()}


def _is_higher(version: str, other: str) -> bool:
    try:
        return compare(parse(version), parse(other)) > 0
    except InvalidVersion:
        return False


def _load(request: _Pending, main: ModuleTree | None, access: ModuleAccess, fetch: Fetch) -> ModuleTree:
    dependency = request.dependency
    if dependency.path:
        return _local(dependency, request.parent, access).module(dependency.package)
    vendored = _vendored(dependency, main)
    if vendored is not None:
        return vendored
    if dependency.git:
        raise ModuleError(
            f"dependency {dependency.name} is in the git repository {dependency.git}, which is not fetched: "
            f"push the module to a registry (kcl mod push oci://…), or {CONTAINER_HINT}"
        )
    tree = fetch(dependency.oci, dependency.version)
    _check_sum(dependency, tree, request.parent)
    return tree.module(dependency.package)


def _local(dependency: Dependency, parent: ModuleTree | None, access: ModuleAccess) -> ModuleTree:
    """A directory. One of a module from a registry must be inside of that."""
    if parent is not None and parent.is_immutable:
        tree = parent.below(dependency.path)
    else:
        start = parent.directory if parent is not None else os.getcwd()
        tree = ModuleTree(os.path.join(start, dependency.path), access)
        if access.models and _is_link_to_models(dependency) and tree.names("") is None:
            tree = ModuleTree(access.models, access)
    if tree.names("") is None:
        raise ModuleError(f"dependency {dependency.name}: there is no directory {dependency.path}")
    return tree


def _is_link_to_models(dependency: Dependency) -> bool:
    return dependency.name == _MODELS and os.path.normpath(dependency.path) in _LINKS


def _vendored(dependency: Dependency, main: ModuleTree | None) -> ModuleTree | None:
    if main is None:
        return None
    for name in (f"{dependency.name}_{dependency.version}", dependency.name):
        if main.names(os.path.join(VENDOR, name)) is not None:
            return main.below(os.path.join(VENDOR, name))
    return None


def _check_sum(dependency: Dependency, tree: ModuleTree, parent: ModuleTree | None) -> None:
    """Raise unless a module is what the kcl.mod.lock of its parent says."""
    lock = parent.read(LOCK) if parent is not None else None
    expected = read_sums(lock).get(dependency.name) if lock is not None else None
    if expected is not None and tree.checksum() != expected:
        raise ModuleError(
            f"dependency {dependency.name} has the checksum {tree.checksum()}, but {LOCK} says {expected}"
        )


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
