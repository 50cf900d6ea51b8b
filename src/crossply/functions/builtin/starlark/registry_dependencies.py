"""Whether a script loads modules of registries: found out without fetching any."""

from __future__ import annotations

from crossply.compose.function_messages import Request, State
from crossply.functions.builtin.starlark.input import InputError, read_input
from crossply.functions.builtin.starlark.module_names import NoDefaultRegistry
from crossply.functions.builtin.starlark.module_sources import registry_modules
from crossply.functions.builtin.starlark.registry_artifacts import Files
from crossply.values import Object


class _Fetched(Exception):
    """A module would be fetched. It never leaves this module."""


def loads_from_registry(step_input: Object) -> bool:
    """Whether the script in an input, or a module beside it, loads a module of a registry.

    What cannot be read is no reason: running the script says why.
    """
    try:
        read = read_input(Request(State(), State(), input=step_input))
        registry_modules(read.source, read.modules, read.default_registry, _fetch)
    except _Fetched:
        return True
    except (InputError, NoDefaultRegistry):
        return False
    return False


def _fetch(reference: str) -> Files:
    raise _Fetched
