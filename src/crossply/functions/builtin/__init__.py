"""The built-in functions by name and by package. Each is imported on first use.

A published package runs as the built-in function that replaces it, whatever its registry and version: a
mirror keeps the organisation and the name. A package of another organisation that has the name of a built-in
function is something else, so it is replaced only on request (`functions.binding`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.functions.builtin.catalogue import CATALOGUE, HERE, QUICK, BuiltIn

if TYPE_CHECKING:  # the zygotes of `sandbox` import this package and should start quickly
    from crossply.compose.function_messages import Function

PACKAGE_PREFIX = "function-"

NATIVE = "native"
"""Runs Compositions in `mode: Resources`; it replaces no package."""

_HERE = "crossply.functions.builtin"
_NATIVE_FUNCTION = (f"{_HERE}.patch_and_transform.resources_mode", "run_native")
_BY_NAME = {function.name: function for function in CATALOGUE}

PUBLISHED = tuple(sorted(_BY_NAME))
"""The names of the built-in functions that replace a published package."""

MEASURE_THEMSELVES = ("patch-and-transform", "conditional-patch-and-transform", NATIVE)
"""Functions that check the size of the desired state themselves (see `functions.reply_limits`)."""


def computes_here(package: str) -> bool:
    """Whether the built-in function of a package's name may compute for seconds in this process."""
    name = sharing_name(package)
    return name is not None and _BY_NAME[name].computes == HERE


def is_quick(package: str) -> bool:
    """Whether the built-in function of a package's name never takes long."""
    name = sharing_name(package)
    return name is None or _BY_NAME[name].computes == QUICK


def load(name: str) -> Function:
    """Import a built-in function. The name must be one that `find` returned."""
    module, attribute = _NATIVE_FUNCTION if name == NATIVE else (f"{_HERE}.{_BY_NAME[name].module}", "run")
    function: Function = getattr(__import__(module, fromlist=(attribute,)), attribute)
    return function


def find(name: str) -> str | None:
    """The built-in function of a name, with or without the prefix `function-`."""
    short = name.removeprefix(PACKAGE_PREFIX)
    return short if short in _BY_NAME else None


def about(name: str) -> BuiltIn:
    """The catalogue's line on a built-in function. The name must be one that `find` returned."""
    return _BY_NAME[name]


def for_package(package: str) -> str | None:
    """The built-in function that replaces a published package, such as `REGISTRY/ORG/function-dummy:v1`.

    A name without a registry and an organisation is the built-in function too.
    """
    name = sharing_name(package)
    if name is None:
        return None
    path = _path(package)
    is_published = len(path) == 1 or "/".join(path[-2:]).lower() in _BY_NAME[name].repositories
    return name if is_published else None


def sharing_name(package: str) -> str | None:
    """The built-in function with the name of a package, of any publisher."""
    image = _path(package)[-1]
    return find(image) if image.startswith(PACKAGE_PREFIX) else None


def _path(package: str) -> list[str]:
    """The segments of a package's repository, without its tag and digest."""
    *before, image = package.partition("@")[0].split("/")
    return [*before, image.partition(":")[0]]
