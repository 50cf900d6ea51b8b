"""The built-in functions by name. Each is imported on first use.

A published package runs as the built-in function of the same name, whatever its registry and version.
"""

from __future__ import annotations

from crossply.compose.messages import Function

PACKAGE_PREFIX = "function-"

NATIVE = "native"
"""Runs Compositions in `mode: Resources`; it replaces no package."""

_HERE = "crossply.functions.builtin"
_FUNCTIONS = {
    "patch-and-transform": (f"{_HERE}.patch_and_transform.function", "run"),
    "auto-ready": (f"{_HERE}.auto_ready.function", "run"),
    "environment-configs": (f"{_HERE}.environment_configs.function", "run"),
    "extra-resources": (f"{_HERE}.extra_resources", "run"),
    "go-templating": (f"{_HERE}.go_templating.function", "run"),
    "cel-filter": (f"{_HERE}.cel_filter.function", "run"),
    "dummy": (f"{_HERE}.dummy", "run"),
    "python": (f"{_HERE}.python.function", "run"),
    "sequencer": (f"{_HERE}.sequencer.function", "run"),
    "starlark": (f"{_HERE}.starlark.function", "run"),
    "status-transformer": (f"{_HERE}.status_transformer.function", "run"),
    "tag-manager": (f"{_HERE}.tag_manager.function", "run"),
    NATIVE: (f"{_HERE}.patch_and_transform.native", "run_native"),
}

PUBLISHED = tuple(sorted(name for name in _FUNCTIONS if name != NATIVE))
"""The names of the built-in functions that replace a published package."""


MEASURE_THEMSELVES = ("patch-and-transform", NATIVE)
"""Functions that check the size of the desired state themselves (see `functions.reply_limits`)."""

_RUN_USER_PROGRAMS = (
    "cel-filter",
    "go-templating",
    "python",
    "sequencer",
    "starlark",
    "status-transformer",
)
"""Functions that run user programs and templates, which may take seconds."""


_IN_WORKERS = ("python", "starlark")
"""Functions whose user programs run in separate processes."""


def computes_here(package: str) -> bool:
    """Whether the built-in function of a package may compute for seconds in this process."""
    name = for_package(package)
    return name in _RUN_USER_PROGRAMS and name not in _IN_WORKERS


def is_quick(package: str) -> bool:
    """Whether the built-in function of a package never takes long."""
    return for_package(package) not in _RUN_USER_PROGRAMS


def load(name: str) -> Function:
    """Import a built-in function. The name must be one that `find` returned."""
    module, attribute = _FUNCTIONS[name]
    function: Function = getattr(__import__(module, fromlist=(attribute,)), attribute)
    return function


def find(name: str) -> str | None:
    """The built-in function of a name, with or without the prefix `function-`."""
    short = name.removeprefix(PACKAGE_PREFIX)
    return short if short in PUBLISHED else None


def for_package(package: str) -> str | None:
    """The built-in function that replaces a package such as `registry/org/function-auto-ready:v1`."""
    image = package.partition("@")[0].rpartition("/")[2].partition(":")[0]
    return find(image) if image.startswith(PACKAGE_PREFIX) else None
