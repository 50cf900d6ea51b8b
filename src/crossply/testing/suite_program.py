"""Programs that print tests, as `up test` has them: a directory among the tests of a project, in a language.

Only directories below the tests of a project count. A program elsewhere is not one of tests. Of the
environment, programs see the variables whose names begin with `UP_`.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import NamedTuple

from crossply.project import file_in
from crossply.project.folder import open_project
from crossply.rendering.available_functions import find_project_file
from crossply.testing.suite_field_reader import SuiteError
from crossply.testing.upbound_tests import COMPOSITION_TEST, E2E_TEST, is_upbound_test, items_of
from crossply.values import Object
from crossply.values.yaml import Document

KCL, PYTHON, PYTHON_PACKAGE, GO, TEMPLATES = "kcl", "python", "python package", "go", "go-templating"
_TEMPLATE_ENDINGS = (".gotmpl", ".tmpl")
_MAIN = {KCL: "main.k", PYTHON: "main.py", PYTHON_PACKAGE: "test/__main__.py", GO: "main.go", TEMPLATES: ""}
_VARIABLE_PREFIX = "UP_"
_PREFIXES = {"e2etest-": E2E_TEST, "test-": COMPOSITION_TEST}
"""What a directory is for, by the name that `up test generate` gives it."""


class SuiteProgram(NamedTuple):
    """A directory whose program prints tests."""

    directory: str
    language: str
    root: str
    """The folder of the project that it belongs to."""

    @property
    def source(self) -> str:
        """The file that reports name."""
        return os.path.join(self.directory, _MAIN[self.language]).rstrip("/")

    def may_print(self, kind: str) -> bool:
        """Whether the program is run to look for tests of a kind."""
        name = os.path.basename(os.path.abspath(self.directory))
        return all(kind == only for prefix, only in _PREFIXES.items() if name.startswith(prefix))


def program_in(directory: str, names: Collection[str]) -> SuiteProgram | None:
    """The program in a directory with files of these names, if it is one of tests."""
    language = _language(names)
    if language is None:
        return None
    file = find_project_file(directory)
    if file is None:
        return None
    folder = open_project(file)
    tests = os.path.join(folder.root, os.path.normpath(folder.project.path("tests")), "")
    inside = os.path.join(os.path.abspath(directory), "").startswith(tests)
    return SuiteProgram(directory, language, folder.root) if inside else None


def _language(names: Collection[str]) -> str | None:
    """The language of a program, found as `up` finds it."""
    for name, language in (
        ("kcl.mod", KCL),
        ("main.k", KCL),
        ("pyproject.toml", PYTHON_PACKAGE),
        ("main.py", PYTHON),
        ("go.mod", GO),
    ):
        if name in names:
            return language
    return TEMPLATES if names and all(name.endswith(_TEMPLATE_ENDINGS) for name in names) else None


def tests_of(program: SuiteProgram) -> list[Document]:
    """The tests that a program prints, of all kinds."""
    printed = _printed(program)
    if not isinstance(printed, dict) or not isinstance(printed.get("items"), list):
        raise _no_tests(program)
    tests = [test for test in items_of(Document(printed, program.source, 1)) if is_upbound_test(test.value)]
    if printed["items"] and not tests:
        raise _no_tests(program)
    return tests


def _no_tests(program: SuiteProgram) -> SuiteError:
    return SuiteError(
        "the program prints no tests",
        place=program.source,
        hint="it ends with a list `items` of CompositionTests or E2ETests",
    )


def _printed(program: SuiteProgram) -> Object:
    if program.language == TEMPLATES:
        from crossply.testing.template_program import printed_by_templates

        return printed_by_templates(program.directory, _visible_variables())
    if program.language == KCL:
        from crossply.testing.kcl_program import printed_by_kcl

        return printed_by_kcl(program.directory, open_project(file_in(program.root)))
    if program.language in (PYTHON, PYTHON_PACKAGE):
        from crossply.testing.python_program import printed_by_file, printed_by_package

        run = printed_by_file if program.language == PYTHON else printed_by_package
        return run(program.directory, open_project(file_in(program.root)), _visible_variables())
    raise SuiteError(
        f"tests in {program.language} are not run",
        place=program.source,
        hint="write them in YAML, KCL, Python or Go templates, or save what the program prints as test.yaml",
    )


def _visible_variables() -> dict[str, str]:
    """The variables that `up test` passes on, too. All others stay private."""
    return {name: value for name, value in os.environ.items() if name.startswith(_VARIABLE_PREFIX)}
