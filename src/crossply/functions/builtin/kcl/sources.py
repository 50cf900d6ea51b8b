"""The source of a step: inline code, or a module in a directory or a registry; with it all files it needs."""

from __future__ import annotations

import os
import posixpath
from functools import partial
from typing import NamedTuple

from crossply.functions.builtin.kcl.dependency_resolution import resolve_dependencies
from crossply.functions.builtin.kcl.imported_files import FileCollector, Place
from crossply.functions.builtin.kcl.module_failures import CONTAINER_HINT, ModuleError
from crossply.functions.builtin.kcl.module_file_reader import ENDING, ModuleTree
from crossply.functions.builtin.kcl.module_manifest import MANIFEST, read_dependencies
from crossply.functions.builtin.kcl.module_source_policy import ModuleAccess
from crossply.functions.builtin.kcl.registry_modules import fetch_module
from crossply.functions.builtin.kcl.settings_files import (
    SETTINGS_FILE,
    Settings,
    merged_config,
    read_settings,
    settings_of_step,
)
from crossply.functions.builtin.kcl.shared_private_names import with_shared_members
from crossply.functions.builtin.kcl.source_types import PROGRAM, SCHEME, ProgramFiles, Source, is_inline
from crossply.values import Object

MAIN, PACKAGES = "/main", "/packages"
_MODULE_ROOT = "${KCL_MOD}/"


class _Module(NamedTuple):
    tree: ModuleTree
    entry: str
    """The file or directory that was named, relative to the module; empty for the module itself."""


def load_program(source: Source, access: ModuleAccess) -> ProgramFiles:
    """Read a program with its modules; raises ModuleError."""
    settings = settings_of_step(source.settings, access)
    module = _module(source.text, access)
    main = module.tree if module is not None else None
    trees = resolve_dependencies(
        main, read_dependencies(source.dependencies), access, partial(fetch_module, access)
    )
    packages = {name: f"{PACKAGES}/{name}" for name in trees}
    roots = {packages[name]: tree for name, tree in trees.items()}
    if main is not None:
        roots[MAIN] = main
    collector = FileCollector(roots, packages)
    entries, config = _collected(source, module, settings, collector)
    watched = [path for tree in roots.values() if not tree.is_immutable for path in tree.touched]
    files = with_shared_members(collector.files, packages)
    return ProgramFiles(entries, files, tuple(packages.items()), config, tuple(watched))


def _collected(
    source: Source, module: _Module | None, settings: Settings, collector: FileCollector
) -> tuple[tuple[tuple[str, str | None], ...], Object]:
    """The entries of a program, with all their files collected, and its settings."""
    if module is None:
        collector.add_imports(source.text)
        return ((PROGRAM, source.text),), settings.config
    if not source.settings:
        text = module.tree.read(SETTINGS_FILE)
        settings = Settings() if text is None else read_settings(text, SETTINGS_FILE)
    manifest = module.tree.manifest
    names = (module.entry,) if module.entry else settings.entries or manifest.entries or ("",)
    entries = tuple((_add_entry(collector, name), None) for name in names)
    return entries, merged_config(manifest.config, settings.config)


def _add_entry(collector: FileCollector, name: str) -> str:
    """The virtual path of an entry whose files are collected now."""
    path = posixpath.normpath(name.removeprefix(_MODULE_ROOT)) if name else ""
    place = Place(MAIN, "" if path == "." else path)
    is_there = not path.startswith("..") and (
        collector.add_file(place) if path.endswith(ENDING) else collector.add_directory(place)
    )
    if not is_there:
        raise ModuleError(f"there is no KCL file in {name or 'the module'}")
    return place.virtual


def _module(text: str, access: ModuleAccess) -> _Module | None:
    """The module that a source names; None for inline code."""
    if is_inline(text):
        return None
    if text.startswith(SCHEME):
        return _Module(fetch_module(access, text), "")
    if text.startswith(("/", ".")):
        return _local_module(text.strip(), access)
    raise ModuleError(
        f"source {text.strip()[:200]} is fetched neither with git nor over HTTP: push the module to a "
        f"registry (kcl mod push oci://…) and name that, put the code into the step, or {CONTAINER_HINT}"
    )


def _local_module(path: str, access: ModuleAccess) -> _Module:
    """The module of a file or directory: the directory above it that has a kcl.mod, or else its own."""
    full = os.path.abspath(path)
    ModuleTree(os.path.dirname(full), access).check(os.path.basename(full))
    start = os.path.dirname(full) if full.endswith(ENDING) else full
    directory = start
    while not os.path.exists(os.path.join(directory, MANIFEST)):
        directory = os.path.dirname(directory)
        if directory == os.path.dirname(directory) or not access.may_read(directory):
            directory = start
            break
    entry = os.path.relpath(full, directory)
    return _Module(ModuleTree(directory, access), "" if entry == "." else entry)
