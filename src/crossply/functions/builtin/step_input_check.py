"""Whether the input of a step is one that its built-in function accepts, found out without running it.

Each input is decoded by the function's own decoder, so that nothing is accepted here that fails later.
"""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import Request, State
from crossply.functions.builtin import NATIVE
from crossply.values import Object

_DECODED = {
    "auto-ready": ("auto_ready.input", "read_input", "InputError"),
    "cel-filter": ("cel_filter.function", "read_input", "InputError"),
    "cidr": ("cidr.parameters", "read_parameters"),
    "deletion-protection": ("deletion_protection", "read_input", "InputError"),
    "dummy": ("dummy", "read_input", "InputError"),
    "environment-configs": ("environment_configs.function", "read_input", "InputError"),
    "extra-resources": ("extra_resources", "read_input", "InputError"),
    "go-templating": ("go_templating.input", "read_input", "InputError"),
    "kcl": ("kcl.input", "read_input", "InputInvalid"),
    "kro": ("kro.function", "read_input", "InputError"),
    "sequencer": ("sequencer.function", "read_input", "TtlError"),
    "shell": ("shell.parameters", "read_parameters"),
    "starlark": ("starlark.input", "read_input", "InputError"),
    "status-transformer": ("status_transformer.function", "read_input", "InputError"),
    "tag-manager": ("tag_manager.function", "read_input", "InputError"),
}
"""The module of a function, its decoder, and an error that this raises besides that of `input_decoder`."""

_COMPILED = {
    "patch-and-transform": "patch_and_transform.function",
    "conditional-patch-and-transform": "conditional_patch_and_transform.function",
    NATIVE: "patch_and_transform.resources_mode",
}
"""Functions that compile their input; their modules have a cache of compiled ones."""

_PROGRAMS = {"python": ("script",), "pythonic": ("composite", "inlined")}
"""Functions that take any input, if one of these fields is there."""


def input_problem(function: str, step_input: Object | None) -> str:
    """Why a built-in function refuses an input; empty if it accepts it."""
    if function in _COMPILED:
        compiled = _module(_COMPILED[function]).COMPILED_INPUTS.get(step_input)
        return compiled if isinstance(compiled, str) else ""
    if function in _PROGRAMS:
        fields = _PROGRAMS[function]
        return "" if any((step_input or {}).get(field) for field in fields) else f"missing {fields[0]}"
    return _decoding_problem(function, step_input)


def _decoding_problem(function: str, step_input: Object | None) -> str:
    from crossply.functions.builtin.input_decoder import InputError

    name, decoder, *more = _DECODED[function]
    module = _module(name)
    errors: tuple[type[Exception], ...] = (InputError, *(getattr(module, error) for error in more))
    try:
        getattr(module, decoder)(Request(State(), input=step_input))
    except errors as error:
        return str(error)
    return ""


def _module(name: str) -> Any:
    return __import__(f"crossply.functions.builtin.{name}", fromlist=("",))
