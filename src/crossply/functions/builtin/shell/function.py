"""The entry point of function-shell: run the command and write what it prints to fields of the XR.

Its environment has fixed values, fields of the XR and of the context, and chosen secrets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

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
from crossply.functions.builtin.shell.access import REFUSAL, SECRETS_PREFIX, shell_access
from crossply.functions.builtin.shell.parameters import (
    FIELD_REF,
    VALUE,
    VALUE_REF,
    ParameterError,
    kind_of,
    read_parameters,
    validate,
)
from crossply.functions.reply_limits import text_size, within_deadline
from crossply.values import Object
from crossply.values.deepcopy import deepcopy
from crossply.values.durations import parse_duration
from crossply.values.field_path import PathError, get, get_string, set_value
from crossply.values.goformat import sprintf
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
_CONTEXT = re.compile(r"context\[(.+?)\].(.+)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_MAX_ARGUMENT = 120 << 10
"""The longest command, and the longest value of a variable, in bytes: the kernel takes no longer ones."""

_MAX_VARIABLES = 1 << 20
"""The most bytes of all variables together: the kernel takes little more."""


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

    if any(text_size(text) > _MAX_ARGUMENT for text in (command, *variables.values())):
        raise _StepError(
            f"cannot run shellCommand: it, or a variable, is longer than {_MAX_ARGUMENT >> 10} KiB"
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


class VariableError(Exception):
    """An environment variable has no value. It becomes a fatal result."""


def environment(request: Request, parameters: Object, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command; `environ` are those of this process."""
    variables, size = {}, 0
    for variable in within_deadline(parameters.get("shellEnvVars", ())):
        name, value = variable.get("key", ""), _value(request, variable)
        size += text_size(value)
        if text_size(value) > _MAX_ARGUMENT or size > _MAX_VARIABLES:
            raise VariableError(
                f"shellEnvVars: {sprintf('%q', [name])} is longer than {_MAX_ARGUMENT >> 10} KiB, or all "
                f"variables are longer than {_MAX_VARIABLES >> 10} KiB"
            )
        variables[name] = value
    reference = parameters.get("shellEnvVarsRef", {})
    if reference.get("keys"):
        try:
            variables.update(_referenced(reference, environ))
        except VariableError as error:
            name = reference.get("name", "")
            raise VariableError(f"cannot process contents of shellEnvVarsRef {name}: {error}") from None
    for name, value in variables.items():
        if not _NAME.fullmatch(name):
            raise VariableError(f"shellEnvVars: {sprintf('%q', [name])} is not the name of a variable")
        if "\0" in value:
            raise VariableError(f"shellEnvVars: the value of {name} has a null byte")
    return variables


def _value(request: Request, variable: Object) -> str:
    kind = kind_of(variable)
    if kind == VALUE:
        return str(variable.get("value", ""))
    path = variable.get("valueRef", "")
    if kind not in (VALUE_REF, FIELD_REF):
        key = variable.get("key", "")
        raise VariableError(f"shellEnvVars: unknown type {kind} for key {key}")
    reference = {"path": path} if kind == VALUE_REF else variable.get("fieldRef", {})
    try:
        return _field(request, reference)
    except VariableError as error:
        name = "valueRef" if kind == VALUE_REF else "fieldRef"
        raise VariableError(f"cannot process contents of {name} {path}: {error}") from None


def _field(request: Request, reference: Object) -> str:
    """The value at a path; a field that is missing is an error unless the reference is optional."""
    path = reference.get("path", "")
    if not path:
        raise VariableError("path must be set")
    default = str(reference.get("defaultValue", ""))
    source: Any = request.observed.composite.object if request.observed.composite else {}
    place = "observed composite"
    match = _CONTEXT.fullmatch(path)
    if match is not None:
        key, path = match.groups()
        if key not in (request.context or {}):
            return default
        source, place = (request.context or {})[key], "context"
    try:
        return sprintf("%v", [get(source if isinstance(source, dict) else {}, path)])
    except PathError as error:
        if reference.get("policy") == "Optional":
            return default
        raise VariableError(f"cannot get {place} value: {error}") from None


def _referenced(reference: Object, environ: Mapping[str, str]) -> dict[str, str]:
    """Keys of the JSON object in an environment variable that the operator set for commands."""
    import json

    name = f"{SECRETS_PREFIX}{reference.get('name', '')}"
    if name not in environ:
        raise VariableError(f"the environment variable {name} is not set where the function runs")
    try:
        data = json.loads(environ[name])
    except ValueError:
        data = None  # without the error: it could show what is in the variable
    if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
        raise VariableError(f"the environment variable {name} is not a JSON object of strings")
    return {key: data.get(key, "") for key in reference["keys"]}
