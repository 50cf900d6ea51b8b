"""Projects and Configuration packages, put together as `project build` and `xpkg build` do, in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from crossply.checking.finding import Finding, Place, error
from crossply.checking.repository_files import PACKAGE_FILE, Unit
from crossply.errors import CrossplyError
from crossply.project import file_in
from crossply.project.folder import ProjectFolder
from crossply.xpkg.package_build import BuildPlan, build
from crossply.xpkg.project_configuration import build_configuration, collect
from crossply.xpkg.project_functions import find_source, functions_of

_EXAMPLES = "examples"


def package_findings(unit: Unit) -> Iterator[Finding]:
    """What keeps a unit from being built; at most one thing for each of its packages."""
    if unit.project is not None:
        yield from _project_findings(unit.project, os.path.normpath(file_in(unit.root)))
    elif unit.is_package:
        plan = BuildPlan(unit.root, os.path.join(unit.root, _EXAMPLES))
        yield from _attempt(lambda: build(plan), os.path.normpath(os.path.join(unit.root, PACKAGE_FILE)))


def _project_findings(folder: ProjectFolder, file: str) -> Iterator[Finding]:
    project, root = folder.project, folder.root
    yield from _attempt(lambda: build_configuration(project, root, collect(project, root), ()), file)
    try:
        functions = functions_of(project, root)
    except CrossplyError as problem:
        yield error(problem, Place(file, 1))
        return
    for function in functions:
        yield from _attempt(lambda function=function: find_source(project, root, function), file)  # type: ignore[misc]


def _attempt(build_part: Callable[[], object], file: str) -> Iterator[Finding]:
    try:
        build_part()
    except CrossplyError as problem:
        yield error(problem, Place(file, 1))
