"""Finds the suites of `crossply test` in files and directories."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.manifests.files import read_bytes
from crossply.testing.suite_parser import is_suite
from crossply.values.yaml import Document, YamlError, read_documents

_ENDINGS = (".yaml", ".yml")
_SUITE_KIND = re.compile(rb"^kind:\s*[\"']?CompositionTest\b", re.M)
_SKIPPED_FOLDERS = ("node_modules", "__pycache__", "_output")


class Unreadable(NamedTuple):
    """A file that should hold suites, and why it cannot be read."""

    source: str
    problem: str
    place: str
    hint: str


class NoSuites(CrossplyError):
    """There is nothing to test."""

    code = "CP-541"
    exit_code = 2
    hint = "name a file or a directory with a CompositionTest, or begin one: crossply new test"


def find_suites(paths: Iterable[str]) -> list[Document | Unreadable]:
    """The suites in files and directories, in the order of their paths."""
    paths = list(paths)
    # A file may be named twice, by itself and by its directory.
    files = dict.fromkeys(_shortest(file) for path in paths for file in _yaml_files(path))
    suites = [suite for file in files for suite in _suites_in(file)]
    if not suites:
        raise NoSuites(f"no CompositionTest found in {', '.join(map(_shortest, paths))}")
    return suites


def files_below(path: str) -> Iterator[str]:
    """The file itself, or all files below a directory, but for hidden and generated ones."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in _SKIPPED_FOLDERS)
        yield from (os.path.join(folder, name) for name in sorted(names))


def _yaml_files(path: str) -> Iterator[str]:
    return (file for file in files_below(path) if file == path or file.endswith(_ENDINGS))


def _suites_in(file: str) -> list[Document | Unreadable]:
    data = read_bytes(file, "cannot read tests")
    # Other files may be anything, templates of YAML for instance: what cannot be a suite is not parsed.
    if not _SUITE_KIND.search(data):
        return []
    try:
        documents = read_documents(data, file)
    except YamlError as problem:
        return [Unreadable(file, str(problem), problem.place, problem.hint)]
    return [document for document in documents if is_suite(document.value)]


def _shortest(path: str) -> str:
    """The path from here, for files that are below."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
