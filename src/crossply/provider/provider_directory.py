"""The directory of a provider: its package metadata, and the kinds that its Python packages declare.

NAME/crossplane.yaml         the Provider
NAME/<python package>/*.py   its kinds
NAME/package/crds/*.yaml     their CRDs, generated
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import traceback
from types import ModuleType
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.extras import EXTRAS, install_command
from crossply.provider.field_model import Reference, all_fields
from crossply.provider.managed_kind import MANAGED, ManagedKind, referenced_kind
from crossply.provider.provider_declaration_errors import UnusableProviderDirectory

METADATA_FILE = "crossplane.yaml"
OTHER_DIRECTORIES = ("tests", "examples", "package")


class ProviderDirectory(NamedTuple):
    """A provider's directory, and what was found in its Python packages."""

    path: str
    packages: tuple[str, ...]
    """The names of its Python packages."""
    kinds: tuple[ManagedKind, ...]
    """By group and kind."""


def python_packages(path: str) -> tuple[str, ...]:
    """The names of the Python packages right below a provider's directory."""
    if not os.path.isfile(os.path.join(path, METADATA_FILE)):
        raise UnusableProviderDirectory(f"{path} has no {METADATA_FILE}")
    packages = tuple(
        name
        for name in sorted(os.listdir(path))
        if name.isidentifier()
        and name not in OTHER_DIRECTORIES
        and os.path.isfile(os.path.join(path, name, "__init__.py"))
    )
    if not packages:
        raise UnusableProviderDirectory(
            f"{path} has no Python package", hint="put the kinds into a directory with an __init__.py"
        )
    return packages


def load_provider(path: str) -> ProviderDirectory:
    """Import all modules of a provider and collect its kinds. The directory stays on `sys.path`."""
    path = os.path.abspath(path)
    packages = python_packages(path)
    if path not in sys.path:
        sys.path.insert(0, path)
    by_class: dict[type, ManagedKind] = {}
    for package in packages:
        for module in _modules(path, package):
            for value in vars(_import(module, path)).values():
                kind = vars(value).get(MANAGED) if isinstance(value, type) else None
                if isinstance(kind, ManagedKind):
                    by_class[value] = kind
    kinds = tuple(sorted(by_class.values(), key=lambda kind: (kind.kind.group, kind.kind.kind)))
    _check_kinds(path, kinds)
    return ProviderDirectory(path, packages, kinds)


def _modules(path: str, package: str) -> list[str]:
    inner = pkgutil.walk_packages([os.path.join(path, package)], f"{package}.")
    return [package, *(module.name for module in inner if not module.name.endswith(".__main__"))]


def _import(name: str, path: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except CrossplyError as error:
        raise error.at(_place(error, path)) from None
    except Exception as error:
        hint = "correct the provider's code"
        if isinstance(error, ModuleNotFoundError):
            hint = _install_hint(path, error.name or "")
        raise UnusableProviderDirectory(
            f"cannot import {name}: {type(error).__name__}: {error}",
            place=_place(error, path),
            hint=hint,
        ) from error


def _install_hint(path: str, module: str) -> str:
    hint = f"install its dependencies: pip install -r {os.path.join(path, 'requirements.txt')}"
    extra = EXTRAS.get(module.partition(".")[0])
    return f"{hint}, or {install_command(extra)}" if extra else hint


def _place(error: BaseException, path: str) -> str:
    """The last line of the provider's own code on the way to an error."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(path + os.sep)]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else ""


def _check_kinds(path: str, kinds: tuple[ManagedKind, ...]) -> None:
    if not kinds:
        raise UnusableProviderDirectory(
            f"{path} declares no kind", hint="decorate a class of its Python package with @managed"
        )
    resources: dict[str, ManagedKind] = {}
    for kind in kinds:
        other = resources.setdefault(kind.kind.resource, kind)
        if other is not kind:
            raise UnusableProviderDirectory(
                f"{other.cls.__qualname__} and {kind.cls.__qualname__} are both {kind.kind.resource}"
            )
        for field in all_fields(kind.parameters):
            if isinstance(field.type, Reference):
                referenced_kind(field.type)
