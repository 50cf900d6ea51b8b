"""Finds the suites of `crossply test` in files and directories, and programs that print tests."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.manifests.files import read_bytes
from crossply.testing.suite_parser import is_suite
from crossply.testing.suite_program import SuiteProgram, program_in
from crossply.testing.upbound_tests import COMPOSITION_TEST, is_upbound_test, items_of, with_kinds
from crossply.values.endless_files import is_pipe_or_device
from crossply.values.yaml import Document, YamlError, read_documents

_ENDINGS = (".yaml", ".yml")
_SUITE_KIND = re.compile(rb"^[ -]*kind:\s*[\"']?(CompositionTest|E2ETest|OperationTest)\b", re.M)
_SKIPPED_FOLDERS = ("node_modules", "__pycache__", "_output")


class Unreadable(NamedTuple):
    """A file that should hold suites, and why it cannot be read."""

    source: str
    problem: str
    place: str
    hint: str


class UpboundFile(NamedTuple):
    """A file with tests of `up`, which are reported together."""

    source: str
    documents: tuple[Document, ...]


SuiteSource = Document | UpboundFile | SuiteProgram | Unreadable


class NoSuites(CrossplyError):
    """There is nothing to test."""

    code = "CP-541"
    exit_code = 2
    hint = "name a file or a directory with a CompositionTest, or begin one: crossply new test"


def find_suites(paths: Iterable[str], kind: str = COMPOSITION_TEST) -> list[SuiteSource]:
    """The tests of a kind in files and directories, in the order of their paths."""
    paths = [path for named in paths for path in _matching(named)]
    sources: list[SuiteSource] = []
    visited: set[str] = set()
    for path in paths:
        for place in _places(path):
            # A file may be named twice, by itself and by its directory.
            name = _shortest(place.directory if isinstance(place, SuiteProgram) else place)
            if name in visited:
                continue
            visited.add(name)
            if not isinstance(place, SuiteProgram):
                sources += _suites_in(name, kind)
            elif place.may_print(kind):
                sources.append(place._replace(directory=name))
    if not sources:
        raise NoSuites(f"no {kind} found in {', '.join(map(_shortest, paths))}")
    return sources


def _matching(path: str) -> list[str]:
    """The paths that a quoted pattern matches; a path that exists is no pattern."""
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    return sorted(glob.glob(path, recursive=True)) or [path]


def files_below(path: str) -> Iterator[str]:
    """The file itself, or all files below a directory, but for hidden and generated ones."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, names in _folders(path):
        yield from (os.path.join(folder, name) for name in names)


def _folders(path: str) -> Iterator[tuple[str, list[str]]]:
    """A directory and those below it, each with its files."""
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in _SKIPPED_FOLDERS)
        yield folder, sorted(name for name in names if not is_pipe_or_device(os.path.join(folder, name)))


def _places(path: str) -> Iterator[str | SuiteProgram]:
    """Where tests may be: YAML files, the file itself, and directories with programs."""
    if not os.path.isdir(path):
        directory = os.path.dirname(path) or os.curdir
        is_source = not path.endswith(_ENDINGS) and os.path.isfile(path)
        yield (program_in(directory, os.listdir(directory)) if is_source else None) or path
        return
    programs: list[str] = []
    for folder, names in _folders(path):
        if any(folder.startswith(os.path.join(program, "")) for program in programs):
            continue
        program = program_in(folder, names)
        if program is None:
            yield from (os.path.join(folder, name) for name in names if name.endswith(_ENDINGS))
        else:
            programs.append(folder)
            yield program


def _suites_in(file: str, kind: str) -> list[SuiteSource]:
    data = read_bytes(file, "cannot read tests")
    # Other files may be anything, templates of YAML for instance: what cannot be a suite is not parsed.
    if not _SUITE_KIND.search(data):
        return []
    try:
        documents = [item for document in read_documents(data, file) for item in items_of(document)]
    except YamlError as problem:
        return [Unreadable(file, str(problem), problem.place, problem.hint)]
    upbound = [document for document in documents if is_upbound_test(document.value)]
    upbound = [document for document in upbound if document.value["kind"] in with_kinds(kind)]
    suites: list[SuiteSource] = [UpboundFile(file, tuple(upbound))] if upbound else []
    if kind == COMPOSITION_TEST:
        suites += [document for document in documents if is_suite(document.value)]
    return suites


def _shortest(path: str) -> str:
    """The path from here, for files that are below."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
