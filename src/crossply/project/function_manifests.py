"""The Functions of a project for rendering: those that it depends on, and its own.

Nothing is built for it: its own functions run from their files, as `crossply.dev/file`,
`crossply.dev/templates` and `crossply.dev/kcl` have them run. Models that functions import are brought up to
date first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import nullcontext, suppress

from crossply.errors import CrossplyError
from crossply.functions.binding import KCL_DIRECTORY, PYTHON_FILE, TEMPLATES_DIRECTORY
from crossply.kinds.project import XPKG
from crossply.project.folder import ProjectFolder
from crossply.project.model_folders import refresh_own_models
from crossply.sdk.function_file import split_place
from crossply.values import Object
from crossply.xpkg.dns_names import to_dns_label
from crossply.xpkg.failures import BuildFailed
from crossply.xpkg.generated_python_project import FILE
from crossply.xpkg.image_reference import parse
from crossply.xpkg.project_functions import (
    KCL,
    PYTHON,
    FunctionSource,
    find_source,
    functions_of,
    language_of,
)
from crossply.xpkg.python_project_image import read_project
from crossply.xpkg.user_image_pull import error_prefix

BestTag = Callable[[str, str], str]
"""Gives the highest tag of a repository that satisfies a constraint; asks the registry."""


def project_functions(folder: ProjectFolder, called: Collection[str], best_tag: BestTag) -> list[Object]:
    """The functions as Functions, named as they are once the project is installed.

    Of the Functions it depends on only those that are `called`. An own function that is not called may be
    one that cannot be run here.
    """
    packages = [entry[XPKG] for entry in folder.project.dependencies if entry.get(XPKG)]
    functions = [
        _depended_on(package, best_tag)
        for package in packages
        if package.get("kind") == "Function" and _name_for(package["package"]) in called
    ]
    sources: list[FunctionSource] = []
    for function in functions_of(folder.project, folder.root):
        repository = folder.project.function_repository(function.name)
        path = os.path.join(folder.project.functions, function.name)
        unused = nullcontext() if _name_for(repository) in called else suppress(CrossplyError)
        with unused, error_prefix(f'cannot run function "{function.name}" of the project, {path}'):
            source = find_source(folder.project, folder.root, function)
            functions.append(_own(repository, source))
            sources.append(source)
    refresh_models(folder, sources)
    return functions


def refresh_models(folder: ProjectFolder, sources: Iterable[FunctionSource]) -> None:
    """Have the models that functions import be those of the project's kinds of today."""
    languages = {source.language for source in sources}
    if KCL in languages:
        refresh_own_models(folder, KCL)
    if PYTHON in languages and folder.project.is_upbound:
        package = refresh_own_models(folder, PYTHON)
        # Functions that are projects themselves import the models by the name of their package.
        if os.path.dirname(package) not in sys.path:
            sys.path.append(os.path.dirname(package))


def _depended_on(package: Object, best_tag: BestTag) -> Object:
    from crossply.functions import builtin
    from crossply.values.semver_constraints import is_constraint

    source, version = package["package"], package["version"]
    if builtin.for_package(source) or not is_constraint(version):
        separator = "@" if version.startswith("sha256:") else ":"
        # What is built in is there in one version.
        return _function(source, source if is_constraint(version) else f"{source}{separator}{version}")
    return _function(source, f"{source}:{best_tag(source, version)}")


def function_in(directory: str, name: str) -> Object:
    """A Function of this name that runs from a directory, or from one Python file, in this process."""
    if os.path.isfile(split_place(directory)[0]):
        function = _function(name, name, **{PYTHON_FILE: directory})
    else:
        function = _own(name, FunctionSource(name, directory, language_of(directory)))
    return {**function, "metadata": {**function["metadata"], "name": name}}


def _own(repository: str, source: FunctionSource) -> Object:
    if not source.language:
        raise BuildFailed(
            f"the function {source.name} is an image in a file, which render does not run",
            hint="name the functions to render with in a file, or push the project and name its packages",
        )
    if source.language == PYTHON:
        return _function(repository, repository, **{PYTHON_FILE: _python_file(source.path)})
    if source.language == KCL:
        return _function(repository, repository, **{KCL_DIRECTORY: source.path})
    return _function(repository, repository, **{TEMPLATES_DIRECTORY: source.path})


def _python_file(directory: str) -> str:
    """The file with a function: what the script of a project is in, or main.py."""
    if not os.path.exists(os.path.join(directory, "pyproject.toml")):
        return os.path.join(directory, FILE)
    project = read_project(directory)
    path = os.path.join(*project.module.split("."))
    for root in (directory, os.path.join(directory, "src")):
        for file in (f"{path}.py", os.path.join(path, "__init__.py")):
            if os.path.exists(os.path.join(root, file)):
                return os.path.join(root, file)
    raise BuildFailed(
        f"there is no module {project.module} in {directory}", hint="it is what [project.scripts] names"
    )


def _function(repository: str, package: str, **annotations: str) -> Object:
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": _name_for(repository), "annotations": annotations},
        "spec": {"package": package},
    }


def _name_for(repository: str) -> str:
    return to_dns_label(parse(repository).repository)
