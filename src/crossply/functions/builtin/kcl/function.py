"""function-kcl: run the program of the step in a sandboxed process, apply its objects, make the response.

The response has the requirements, conditions, events, context and desired state of the outcome. The module of
a directory can also be run by itself, without a request.
"""

from __future__ import annotations

import os

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    STATUS_FALSE,
    STATUS_TRUE,
    STATUS_UNKNOWN,
    TARGET_COMPOSITE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    Request,
    Requirements,
    Response,
    Result,
    fatal,
    respond,
)
from crossply.extras import install_command
from crossply.functions.builtin.input_decoder import InputError
from crossply.functions.builtin.kcl import targets
from crossply.functions.builtin.kcl.input import Input, InputInvalid, read_input
from crossply.functions.builtin.kcl.module_failures import CONTAINER_HINT, ModuleError
from crossply.functions.builtin.kcl.module_source_policy import ModuleAccess, RegistryLogin, access_of
from crossply.functions.builtin.kcl.options import params_json
from crossply.functions.builtin.kcl.output import OutputError, read_objects
from crossply.functions.builtin.kcl.program_builder import module_program, program_of
from crossply.functions.builtin.kcl.response_state import Outcome, OutputRefused
from crossply.functions.builtin.sandbox.pool import ProgramError, WorkerFailed, ask
from crossply.kinds.gostructs import json_kind
from crossply.values import Object
from crossply.values.merge import MergeOptions, merge
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
_OVERRIDE = MergeOptions(keep_map_values=False)
_STATUS = {"True": STATUS_TRUE, "False": STATUS_FALSE}
_SEVERITY = {"Normal": SEVERITY_NORMAL, "Warning": SEVERITY_WARNING}
_SYSTEM_CONDITIONS = frozenset(("Ready", "Synced", "Healthy"))


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
    return _respond_with(request, outcome)


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


def _respond_with(request: Request, outcome: Outcome) -> Response:
    """The response. What precedes a refused condition or event stays in it, as in the published function."""
    requirements = _requirements(outcome)
    conditions, problem = _conditions(outcome.conditions)
    results: tuple[Result, ...] = ()
    if problem is None:
        results, problem = _results(outcome.events)
    if problem is not None:
        refused = Result(SEVERITY_FATAL, problem, None, TARGET_COMPOSITE)
        return respond(request, requirements=requirements, conditions=conditions, results=(*results, refused))
    return respond(
        request,
        desired=outcome.desired(),
        requirements=requirements,
        conditions=conditions,
        results=results,
        context=_context(request, outcome),
    )


def _requirements(outcome: Outcome) -> Requirements | None:
    if not outcome.selectors and not outcome.extra_selectors:
        return None
    return Requirements(resources=outcome.selectors, extra_resources=outcome.extra_selectors)


def _conditions(declared: list[Object]) -> tuple[tuple[Condition, ...], str | None]:
    """The conditions, and why one is refused. A later one of a type counts only with `force`."""
    conditions: list[Condition] = []
    types = set()
    for entry in declared:
        condition = entry.get("condition", {})
        kind = condition.get("type", "")
        if kind in _SYSTEM_CONDITIONS:
            problem = f"cannot set ClaimCondition type: {kind} is a reserved Crossplane Condition"
            return tuple(conditions), problem
        if kind in types and not entry.get("force"):
            continue
        types.add(kind)
        status = _STATUS.get(condition.get("status", ""), STATUS_UNKNOWN)
        message, target = condition.get("message"), _target(entry)
        conditions.append(Condition(kind, status, condition.get("reason", ""), message, target))
    return tuple(conditions), None


def _results(events: list[Object]) -> tuple[tuple[Result, ...], str | None]:
    """The results, and why an event is refused."""
    results: list[Result] = []
    for entry in events:
        event = entry.get("event", {})
        kind = event.get("type", "Normal")
        if kind not in _SEVERITY:
            return tuple(results), f"invalid type {kind}, must be one of [Normal, Warning]"
        message, reason = event.get("message", ""), event.get("reason")
        results.append(Result(_SEVERITY[kind], message, reason, _target(entry)))
    return tuple(results), None


def _target(entry: Object) -> int:
    both = entry.get("target") == "CompositeAndClaim"
    return TARGET_COMPOSITE_AND_CLAIM if both else TARGET_COMPOSITE


def _context(request: Request, outcome: Outcome) -> Object | None:
    if not outcome.context:
        return request.context
    merged: Object = merge(request.context or {}, outcome.context, _OVERRIDE)
    return merged


def objects_of_module(directory: str, *readable: str, models: str = "") -> list[Object]:
    """The objects that a module prints; its dependencies may be in the further directories, or in `models`.

    Raises ModuleError, ProgramError and OutputError.
    """
    access = access_of(os.environ, directory, *readable, models=models)
    program = module_program(os.path.abspath(directory), access)
    return read_objects(ask(LANGUAGE, program, b"{}", MAX_PROGRAM))
