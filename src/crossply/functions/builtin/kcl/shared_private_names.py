"""Names that begin with an underscore, used from another module.

The published function runs a KCL that allows it, and programs rely on it; later versions refuse it. So such
names get others in both modules before a program is compiled.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial

from crossply.functions.builtin.kcl.module_file_reader import ENDING
from crossply.functions.builtin.kcl.worker_program_marshal import PREFIX

_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w.\-]+)(?:[ \t]+as[ \t]+(\w+))?", re.MULTILINE)
_MEMBER = re.compile(r"\b(\w++)(\s*+\.\s*+)(_\w+)")
_PRIVATE = re.compile(r"(?<![\w$])_\w+")
_ROOT = re.compile(r"/main|/packages/[^/]+")


def with_shared_members(files: Mapping[str, str], packages: Mapping[str, str]) -> dict[str, str]:
    """Virtual files by path; names that one of them uses of another's module begin with no underscore."""
    # Every text is read a fixed number of times, however many imports and names it has.
    directories = frozenset(map(posixpath.dirname, files))
    names_by_directory: dict[str, set[str]] = {}
    changed = dict(files)
    for path, text in files.items():
        used = _used_members(text)
        shared: set[str] = set()
        for module, alias in dict.fromkeys(_IMPORT.findall(text)) if used else ():
            alias = alias or module.rpartition(".")[2]
            directory = _directory(module, path, files, directories, packages) if alias in used else None
            if directory is not None:
                names_by_directory.setdefault(directory, set()).update(used[alias])
                shared.add(alias)
        if shared:
            changed[path] = _MEMBER.sub(partial(_shared_member, shared), text)
    for path, text in changed.items():
        names = names_by_directory.get(posixpath.dirname(path))
        if names:
            changed[path] = _PRIVATE.sub(partial(_shared_name, names), text)
    return changed


def _used_members(text: str) -> dict[str, set[str]]:
    """The names with an underscore that a text uses of others, by the names of these."""
    used: dict[str, set[str]] = {}
    for alias, _, name in _MEMBER.findall(text):
        used.setdefault(alias, set()).add(name)
    return used


def _shared_member(shared: Collection[str], match: re.Match[str]) -> str:
    alias, dot, name = match.groups()
    return f"{alias}{dot}{PREFIX}{name}" if alias in shared else match.group()


def _shared_name(names: Collection[str], match: re.Match[str]) -> str:
    return f"{PREFIX}{match.group()}" if match.group() in names else match.group()


def _directory(
    module: str,
    path: str,
    files: Mapping[str, str],
    directories: Collection[str],
    packages: Mapping[str, str],
) -> str | None:
    """The directory of the files that an import means."""
    for target in _targets(module, path, packages):
        if target in directories:
            return target
        if f"{target}{ENDING}" in files:
            return posixpath.dirname(target)
    return None


def _targets(module: str, path: str, packages: Mapping[str, str]) -> Iterator[str]:
    relative = len(module) - len(module.lstrip("."))
    parts = module[relative:].split(".")
    if relative:
        base = posixpath.join(posixpath.dirname(path), "../" * (relative - 1))
        yield posixpath.normpath(posixpath.join(base, *parts))
        return
    root = _ROOT.match(path)
    if root is not None:
        yield posixpath.join(root.group(), *parts)
    if parts[0] in packages:
        yield posixpath.join(packages[parts[0]], *parts[1:])
