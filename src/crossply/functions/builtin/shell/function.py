"""The entry point of function-shell: run the command and write what it prints to fields of the XR."""

from __future__ import annotations

import os

from crossply.compose.function_messages import (
    SECOND,
    SEVERITY_FATAL,
    TARGET_COMPOSITE,
    Request,
    Resource,
    Response,
    Result,
    State,
    fatal,
    respond,
)
from crossply.errors import CrossplyError
from crossply.functions.builtin.input_decoder import InputError
from crossply.functions.builtin.patch_and_transform.object_fields import text_field
from crossply.functions.builtin.shell.access import REFUSAL, shell_access
from crossply.functions.builtin.shell.parameters import ParameterError, read_parameters, validate
from crossply.functions.builtin.shell.variables import MAX_ARGUMENT, VariableError, environment
from crossply.functions.reply_limits import text_size
from crossply.values import Object
from crossply.values.deepcopy import deepcopy
from crossply.values.durations import parse_duration
from crossply.values.field_path import PathError, get_string, set_value
from crossply.values.goquote import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.functions.builtin.shell.container_command import Finished

_TTL = 60 * SECOND
_STDOUT, _STDERR = "status.atFunction.shell.stdout", "status.atFunction.shell.stderr"
_WHITE_SPACE = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What Go's TrimSpace removes."""


class _StepError(Exception):
    """The command cannot be run. It becomes a fatal result."""


def run(request: Request) -> Response:
    try:
        parameters = read_parameters(request)
    except InputError as error:
        return fatal(request, f"cannot get Function from input: {error}")
    try:
        ttl = parse_duration(parameters["cacheTTL"]) if parameters.get("cacheTTL") else _TTL
    except ValueError as error:
        return fatal(request, f"cannot set cacheTTL: {error}")
    try:
        validate(parameters)
        return _answer(request, parameters, ttl)
    except ParameterError as error:
        return fatal(request, f"invalid Function input: {error}", ttl=ttl)
    except (VariableError, _StepError) as error:
        return fatal(request, str(error), ttl=ttl)


def _answer(request: Request, parameters: Object, ttl: int) -> Response:
    xr = request.observed.composite.object if request.observed.composite else {}
    command = _command(xr, parameters)
    finished = _finished(command, environment(request, parameters, os.environ))
    composite = _with_output(request, parameters, xr, finished)
    results: tuple[Result, ...] = ()
    if finished.status:
        kind = text_field(xr, "kind")
        message = f"shellCmd {quote(command)} for {quote(kind)} failed with : exit status {finished.status}"
        results = (Result(SEVERITY_FATAL, message, None, TARGET_COMPOSITE),)
    desired = State(composite, request.desired.resources)
    return respond(request, ttl=ttl, desired=desired, results=results)


def _command(xr: Object, parameters: Object) -> str:
    path = parameters.get("shellCommandField")
    if not path:
        # As published, where the command is a format of Go: two percent signs are one.
        return str(parameters["shellCommand"]).replace("%%", "%")
    try:
        return get_string(xr, path)
    except PathError as error:
        raise _StepError(f"cannot process contents of shellCommandField {path}: {error}") from None


def _finished(command: str, variables: dict[str, str]) -> Finished:
    access = shell_access(os.environ)
    if access is None:
        raise _StepError(f"cannot run shellCommand: {REFUSAL}")
    from crossply.functions.builtin.shell.container_command import run_command

    if any(text_size(text) > MAX_ARGUMENT for text in (command, *variables.values())):
        raise _StepError(
            f"cannot run shellCommand: it, or a variable, is longer than {MAX_ARGUMENT >> 10} KiB"
        )
    if "\0" in command:
        raise _StepError("cannot run shellCommand: it has a null byte")
    try:
        return run_command(access, command, variables)
    except CrossplyError as error:
        hint = f" ({error.hint})" if error.hint else ""
        raise _StepError(f"cannot run shellCommand in image {access.image}: {error}{hint}") from None


def _with_output(request: Request, parameters: Object, xr: Object, finished: Finished) -> Resource:
    """The desired XR with the output of the command, and with the type of the observed one."""
    desired = request.desired.composite or Resource({})
    composite: Object = deepcopy(desired.object)
    composite.update({name: text_field(xr, name) for name in ("apiVersion", "kind")})
    for field, text in (
        (parameters.get("stdoutField") or _STDOUT, finished.stdout),
        (parameters.get("stderrField") or _STDERR, finished.stderr),
    ):
        printed = text.strip(_WHITE_SPACE)
        try:
            set_value(composite, field, printed)
        except PathError as error:
            kind = text_field(xr, "kind")
            raise _StepError(f"cannot set field {field} to {printed} for {kind}: {error}") from None
    return Resource(composite, desired.connection_details)
