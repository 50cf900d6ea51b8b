"""The functions that steps of a pipeline can call, for `render`, `test` and `new test`.

Listed functions come first. A project adds its own functions, then the Functions it depends on. What is still
unknown is a built-in function if it has the name of one.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from crossply.compose.object_metadata import name_of
from crossply.functions import builtin
from crossply.project import file_in
from crossply.values import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.project.function_manifests import BestTag


def available_functions(
    listed: list[Object], called: Collection[str], project_file: str | None, best_tag: BestTag
) -> list[Object]:
    """The listed functions, and those of the project and built-in ones that are `called` but not listed."""
    functions = list(listed)
    missing = _missing(called, functions)
    if missing and project_file is not None:
        from crossply.project.folder import open_project
        from crossply.project.function_manifests import project_functions

        known = {name_of(function) for function in functions}
        added = project_functions(open_project(project_file), missing, best_tag)
        functions += [function for function in added if name_of(function) not in known]
    built_in = [(name, builtin.find(name)) for name in _missing(called, functions)]
    return [
        *functions,
        *(_built_in(name, catalogue_name) for name, catalogue_name in built_in if catalogue_name),
    ]


def find_project_file(directory: str) -> str | None:
    """The file of the project that a directory belongs to: in it, or in the nearest one above."""
    directory = os.path.abspath(directory)
    while True:
        path = file_in(directory)
        if os.path.exists(path):
            return path
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def _missing(called: Collection[str], functions: list[Object]) -> list[str]:
    return sorted(set(called) - {name_of(function) for function in functions})


def _built_in(name: str, function: str) -> Object:
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": name},
        "spec": {"package": builtin.about(function).package},
    }
