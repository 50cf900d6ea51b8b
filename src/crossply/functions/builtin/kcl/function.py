"""function-kcl: run the program of the step in a sandboxed process and apply its objects."""

from __future__ import annotations

import os

from crossply.compose.function_messages import Request, Response, fatal
from crossply.extras import install_command
from crossply.functions.builtin.input_decoder import InputError
from crossply.functions.builtin.kcl import targets
from crossply.functions.builtin.kcl.input import Input, InputInvalid, read_input
from crossply.functions.builtin.kcl.module_failures import CONTAINER_HINT, ModuleError
from crossply.functions.builtin.kcl.module_source_policy import ModuleAccess, RegistryLogin, access_of
from crossply.functions.builtin.kcl.options import params_json
from crossply.functions.builtin.kcl.output import OutputError, read_objects
from crossply.functions.builtin.kcl.program import program_of
from crossply.functions.builtin.kcl.response import respond_with
from crossply.functions.builtin.kcl.response_state import Outcome, OutputRefused
from crossply.functions.builtin.sandbox.pool import ProgramError, WorkerFailed, ask
from crossply.kinds.gostructs import json_kind
from crossply.values.protobuf_struct import StructError, to_wire

DEFAULT_SOURCE = "FUNCTION_KCL_DEFAULT_SOURCE"
"""The environment variable with the source of steps that name none, as in the published function."""

LANGUAGE = "crossply.functions.builtin.kcl.worker"
MAX_PROGRAM = 64 << 20
"""The most bytes of a program with its modules."""

_CREDENTIALS = "kcl-registry"
_INSECURE = "krm.kcl.dev/allow-insecure-source"
_YES = ("ok", "yes", "true", "1", "on")
_PIPELINE = "failed to run kcl function pipelines"
_DATA = "cannot parse data resources from the pipeline output in *v1.RunFunctionResponse"
_OUTPUT = "cannot process xr and state with the pipeline output in *v1.RunFunctionResponse"


class _BaseRefused(Exception):
    """A base in `spec.resources` is no object."""


def run(request: Request) -> Response:
    """Run the source of the step's input, or that of the environment."""
    source = os.environ.get(DEFAULT_SOURCE, "")
    return _run(request, source, access_of(os.environ, *((source,) if source.startswith(("/", ".")) else ())))


def run_module(request: Request, directory: str, *readable: str, models: str = "") -> Response:
    """Run the module of a directory; its dependencies may be in the further directories, or in `models`."""
    access = access_of(os.environ, directory, *readable, models=models)
    return _run(request, os.path.abspath(directory), access)


def _run(request: Request, default_source: str, access: ModuleAccess) -> Response:
    try:
        step_input = read_input(request, default_source)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    except InputInvalid as error:
        return fatal(request, f"invalid function input: {error}")
    if not _is_installed():
        return fatal(request, f"{_PIPELINE}: {_missing()}")
    try:
        return _response(request, step_input, access)
    except WorkerFailed as error:
        return fatal(request, f"{_PIPELINE}: the program {error}")
    except (ModuleError, ProgramError, OutputError) as error:
        return fatal(request, f"{_PIPELINE}: {error}")
    except _BaseRefused as error:
        return fatal(request, f"{_DATA}: {error}")
    except OutputRefused as error:
        return fatal(request, f"{_OUTPUT}: {error}")
    except (StructError, TypeError) as error:  # of the JSON encoder: invalid Unicode or a huge integer
        return fatal(request, f"{_PIPELINE}: {error}")


def _response(request: Request, step_input: Input, access: ModuleAccess) -> Response:
    program = program_of(step_input, _for_step(access, request, step_input))
    output = ask(LANGUAGE, program, params_json(request, step_input.params), MAX_PROGRAM)
    objects = [to_wire(obj) for obj in read_objects(output)]
    for _, base in step_input.resources:
        if base is not None and not isinstance(base, dict):
            raise _BaseRefused(
                f"json: cannot unmarshal {json_kind(base)} into Go value of type map[string]interface {{}}"
            )
    outcome = Outcome(request)
    targets.apply(step_input, objects, outcome)
    return respond_with(request, outcome)


def _for_step(access: ModuleAccess, request: Request, step_input: Input) -> ModuleAccess:
    """The access with the credentials of the step: its Secret, or else those of its input."""
    secret = request.credentials.get(_CREDENTIALS, {})
    fields = {key: secret[key].decode("utf-8", "replace") for key in secret} if "password" in secret else {}
    known = {**step_input.credentials, **fields}
    login = RegistryLogin(*(known.get(key, "") for key in ("url", "username", "password")))
    annotations = step_input.decoded.get("metadata", {}).get("annotations", {})
    return access.for_step(login, annotations.get(_INSECURE, "").lower() in _YES)


def _is_installed() -> bool:
    from crossply.functions.builtin.kcl.native import is_installed

    return is_installed()


def _missing() -> str:
    return f"KCL is not installed: {install_command('kcl')}, or {CONTAINER_HINT}"
