"""Checks a repository: the order in which its parts are checked, and the report of it.

Projects and Configuration packages are put together as `project build` and `xpkg build` do, in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from crossply.checking.cached_packages import CachedPackages, required_packages
from crossply.checking.compositions import CheckedComposition, Surroundings, check_composition, is_composition
from crossply.checking.definitions import is_definition, read_definitions
from crossply.checking.example_discovery import Example, composite_of, compositions_for, find_examples
from crossply.checking.example_rendering import RenderingContext, rendering_findings, skip_reason
from crossply.checking.finding import ERROR, WARNING, Finding, Place, error
from crossply.checking.known_kinds import KnownKinds
from crossply.checking.object_validation import validated
from crossply.checking.repository_files import PACKAGE_FILE, Unit, find_units, is_below
from crossply.checking.step_functions import StepFunctions
from crossply.errors import CrossplyError
from crossply.project import file_in
from crossply.project.folder import ProjectFolder
from crossply.validation.line_numbers import line_of
from crossply.xpkg.package_build import BuildPlan, build
from crossply.xpkg.project_configuration import build_configuration, collect
from crossply.xpkg.project_functions import find_source, functions_of

_CROSSPLANE = ("apiextensions.crossplane.io", "pkg.crossplane.io", "protection.crossplane.io")

_EXAMPLES = "examples"


class CheckOptions(NamedTuple):
    """How to check."""

    cache: str
    """The directory of cached packages."""
    renders: bool = True


class Skipped(NamedTuple):
    """An example that was not rendered, and why."""

    file: str
    line: int
    reason: str


class Report(NamedTuple):
    """What was checked, and what was found."""

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    files: int = 0
    definitions: int = 0
    compositions: int = 0
    examples: int = 0
    rendered: int = 0

    def count(self, level: str) -> int:
        return sum(finding.level == level for finding in self.findings)

    @property
    def errors(self) -> int:
        return self.count(ERROR)

    @property
    def warnings(self) -> int:
        return self.count(WARNING)


def check(paths: Sequence[str], options: CheckOptions) -> Report:
    """Check the projects, packages, directories or files at paths."""
    units, findings = find_units(paths)
    unreadable = {finding.file for finding in findings}
    reports = [
        UnitCheck(unit, options).report(is_readable=unreadable.isdisjoint(unit.files)) for unit in units
    ]
    findings += [finding for report in reports for finding in report.findings]
    skipped = [item for report in reports for item in report.skipped]
    return Report(
        tuple(sorted({item for item in findings if is_below(item.file, paths)}, key=_order)),
        tuple(item for item in skipped if is_below(item.file, paths)),
        files=sum(report.files for report in reports),
        definitions=sum(report.definitions for report in reports),
        compositions=sum(report.compositions for report in reports),
        examples=sum(report.examples for report in reports),
        rendered=sum(report.rendered for report in reports),
    )


def _order(finding: Finding) -> tuple[str, int, str, str]:
    return finding.file, finding.line, finding.level, finding.message


class UnitCheck:
    """The check of one unit."""

    def __init__(self, unit: Unit, options: CheckOptions) -> None:
        self._unit = unit
        self._options = options
        self._findings: list[Finding] = []
        self._skipped: list[Skipped] = []
        self._rendered = 0
        dependencies = required_packages(unit)
        self._packages = CachedPackages(options.cache, dependencies)
        self._functions = StepFunctions(unit, dependencies)

    def report(self, *, is_readable: bool) -> Report:
        """Check everything; a mistake is reported once, where it is made."""
        unit = self._unit
        definitions = read_definitions(unit.all_manifests)
        self._findings += definitions.findings
        kinds = KnownKinds(definitions.crds, self._packages.crds)
        around = Surroundings(kinds, definitions, self._functions, unit.is_complete)
        self._check_others(kinds)
        compositions = list(self._compositions(around))
        examples = find_examples(unit.manifests, definitions.defined, compositions)
        for example in examples:
            self._check_example(example, compositions, RenderingContext(kinds, unit.all_manifests))
        if is_readable and not self._findings:
            self._findings += _package_findings(unit)
        if unit.is_complete or not unit.nested:
            self._findings += self._packages.findings(self._place(), self._advice())
        own = {*unit.files, self._place().file}
        return Report(
            tuple(finding for finding in self._findings if finding.file in own),
            tuple(self._skipped),
            files=len(unit.files),
            definitions=sum(item.file in own for item in definitions.defined),
            compositions=sum(map(is_composition, unit.manifests)),
            examples=len(examples),
            rendered=self._rendered,
        )

    def _check_others(self, kinds: KnownKinds) -> None:
        """Objects of Crossplane's own kinds that are neither definitions nor Compositions."""
        for manifest in self._unit.manifests:
            is_other = not is_definition(manifest) and not is_composition(manifest)
            if is_other and manifest.group_kind[0] in _CROSSPLANE:
                self._findings += validated(manifest, kinds)

    def _compositions(self, around: Surroundings) -> Iterator[CheckedComposition]:
        for manifest in filter(is_composition, self._unit.all_manifests):
            checked, findings = check_composition(manifest, around)
            self._findings += findings
            if checked is not None:
                yield checked

    def _check_example(
        self, example: Example, compositions: list[CheckedComposition], context: RenderingContext
    ) -> None:
        problems = [] if example.defined is None else list(validated(example.manifest, context.kinds))
        self._findings += problems
        if problems or not self._options.renders:
            return
        place = Place(example.file, line_of(example.manifest, ()))
        try:
            xr = composite_of(example)
        except CrossplyError as problem:
            self._findings.append(error(problem, place))
            return
        for checked in compositions_for(example, xr, compositions):
            reason = skip_reason(checked)
            if reason:
                self._skipped.append(Skipped(*place, f"{checked.source}: {reason}"))
                continue
            self._rendered += 1
            self._findings += rendering_findings(example, xr, checked, context)

    def _place(self) -> Place:
        """Where a unit says what it depends on."""
        unit = self._unit
        if unit.project is not None:
            return Place(os.path.normpath(file_in(unit.root)), 1)
        if unit.is_package:
            return Place(os.path.normpath(os.path.join(unit.root, PACKAGE_FILE)), 1)
        named = [item for item in unit.manifests if item.group_kind[0] == "pkg.crossplane.io"]
        return Place(named[0].document.source, named[0].document.line) if named else Place(unit.root, 1)

    def _advice(self) -> str:
        if self._unit.project is not None:
            return "fetch the dependencies with: crossply dependency update-cache"
        return "crossply validate FILE RESOURCES fetches the packages that FILE names into the cache"


def _package_findings(unit: Unit) -> Iterator[Finding]:
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
