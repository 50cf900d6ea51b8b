"""The functions that the steps of a Composition call, and which of them can run here without a network."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property

from crossply.checking.directory_proximity import nearest
from crossply.checking.finding import Finding, Place, UnknownFunction, error, warning
from crossply.checking.repository_files import Unit
from crossply.compose.object_metadata import annotations_of, name_of
from crossply.errors import CrossplyError
from crossply.functions import builtin
from crossply.functions.binding import (
    BUILTIN,
    KCL_DIRECTORY,
    ON_THIS_MACHINE,
    PROCESS,
    PYTHON_FILE,
    TEMPLATES_DIRECTORY,
    choose_runtime,
)
from crossply.kinds.composition import Composition, Step
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.manifests.manifest import Manifest
from crossply.project import file_in
from crossply.rendering.available_functions import available_functions
from crossply.rendering.inputs import called_functions
from crossply.validation.line_numbers import line_of
from crossply.values import Object
from crossply.values.gojson import dumps
from crossply.xpkg.dependencies import Dependency
from crossply.xpkg.dns_names import to_dns_label
from crossply.xpkg.image_reference import parse

_FUNCTION = ("pkg.crossplane.io", "Function")
_FILES = (PYTHON_FILE, TEMPLATES_DIRECTORY, KCL_DIRECTORY)
_FETCHED = ("oci://", "git://")


class StepFunctions:
    """The functions of a unit: listed in its files, of its project, or that it depends on."""

    def __init__(self, unit: Unit, dependencies: Iterable[Dependency]) -> None:
        self._unit = unit
        self._dependencies = dependencies

    @cached_property
    def _listed(self) -> dict[str, list[Manifest]]:
        by_name: dict[str, list[Manifest]] = {}
        for manifest in self._unit.all_manifests:
            if manifest.group_kind == _FUNCTION:
                by_name.setdefault(name_of(manifest.value), []).append(manifest)
        return by_name

    @cached_property
    def _depended_on(self) -> dict[str, Object]:
        """Functions of dependencies, by the names that they have once they are installed."""
        functions = {}
        for dependency in self._dependencies:
            if dependency.kind in ("", "Function"):
                name = to_dns_label(parse(dependency.source).repository)
                functions[name] = _function(name, dependency.source)
        return functions

    def called_by(self, composition: Composition, file: str) -> dict[str, Object]:
        """The functions of a Composition's steps that are known, by name."""
        called = called_functions(composition)
        project = self._unit.project
        functions = available_functions(
            [self._nearest(name, file) for name in called if name in self._listed],
            called,
            None if project is None else file_in(project.root),
            _unresolved,
        )
        known = {name_of(function): function for function in functions}
        for name in called - known.keys():
            if name in self._depended_on:
                known[name] = self._depended_on[name]
        return {name: known[name] for name in known if name in called}

    def _nearest(self, name: str, file: str) -> Object:
        manifest = nearest(file, self._listed[name], lambda item: item.document.source)[0]
        return _beside(manifest.value, manifest.document.source)

    def unknown(
        self, composition: Composition, manifest: Manifest, known: dict[str, Object]
    ) -> Iterator[Finding]:
        """A finding for each step whose function is not known."""
        is_certain = bool(self._listed) or self._unit.is_complete
        for index, step in enumerate(composition.steps):
            if step.function in (NATIVE_FUNCTION, *known) or step.container is not None:
                continue
            problem = UnknownFunction(
                f'step "{step.name}" calls the function {step.function}, which is not known',
                hint=self._advice(step.function),
            )
            steps = ("spec", "pipeline", index, "functionRef", "name")
            place = Place(manifest.document.source, line_of(manifest, steps))
            # Where nothing says which functions there are, others may install them.
            yield error(problem, place) if is_certain else warning(problem, place)

    def _advice(self, name: str) -> str:
        from difflib import get_close_matches

        published = [f"{builtin.PACKAGE_PREFIX}{short}" for short in builtin.PUBLISHED]
        similar = get_close_matches(name, [*self._listed, *self._depended_on, *published], n=1)
        meant = f"did you mean {similar[0]}? Otherwise " if similar else ""
        if self._unit.project is not None:
            return f"{meant}add it with: crossply dependency add PACKAGE"
        if self._unit.is_package:
            return f"{meant}add its package to dependsOn in crossplane.yaml"
        return f"{meant}add a Function of this name to the files"


def builtin_of(function: Object | None, step: Step) -> str | None:
    """The built-in function that a step runs; None if it runs something else."""
    if step.function == NATIVE_FUNCTION:
        return builtin.NATIVE
    if function is None:
        return None
    try:
        is_builtin = choose_runtime(function) == BUILTIN
    except CrossplyError:
        return None
    return (
        builtin.sharing_name(str((function.get("spec") or {}).get("package") or "")) if is_builtin else None
    )


def why_not_run(step: Step, function: Object | None) -> str:
    """Why a step is not run while checking; empty if it is."""
    if step.container is not None:
        return f'step "{step.name}" runs a container'
    name = builtin_of(function, step)
    if name == "shell":
        return f'step "{step.name}" runs a command'
    if name is None:
        runtime = choose_runtime(function) if function is not None else ""
        if runtime not in ON_THIS_MACHINE or runtime == PROCESS:
            return f"the function {step.function} is not built in"
    if _fetches_modules(step, function, name):
        return f'step "{step.name}" fetches modules'
    if step.credentials:
        return f'step "{step.name}" needs credentials'
    return ""


def _fetches_modules(step: Step, function: Object | None, name: str | None) -> bool:
    """Whether a step has programs or modules of registries."""
    if step.input is not None and any(scheme in dumps(step.input) for scheme in _FETCHED):
        return True
    if name == "starlark":
        from crossply.functions.builtin.starlark.registry_module_resolution import loads_from_registry

        return loads_from_registry(step.input or {})
    directory = "" if function is None else annotations_of(function).get(KCL_DIRECTORY, "")
    if name != "kcl" and not directory:
        return False
    from crossply.functions.builtin.kcl.dependency_resolution import depends_on_registry
    from crossply.functions.kcl_directory import generated_models, readable_root

    spec = (step.input or {}).get("spec")
    dependencies = spec.get("dependencies") if isinstance(spec, dict) else None
    declared = dependencies if isinstance(dependencies, str) else ""
    if not directory:
        return depends_on_registry(declared)
    root = readable_root(directory)
    return depends_on_registry(declared, directory, (directory, root), generated_models(root))


def _function(name: str, package: str) -> Object:
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": name},
        "spec": {"package": package},
    }


def _beside(function: Object, file: str) -> Object:
    """A Function whose annotations name files beside its own as paths that can be opened from here."""
    annotations = dict(annotations_of(function))
    for key in _FILES:
        path = os.path.join(os.path.dirname(file), annotations.get(key) or "")
        if annotations.get(key) and os.path.exists(path):
            annotations[key] = path
    return {**function, "metadata": {**function["metadata"], "annotations": annotations}}


def _unresolved(source: str, constraint: str) -> str:
    """A tag for a package that is not run here: which one it is, only its registry knows."""
    return "unresolved"
