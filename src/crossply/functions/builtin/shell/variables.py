"""The environment of a command: fixed values, fields of the XR and of the context, and chosen secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from crossply.compose.function_messages import Request
from crossply.functions.builtin.shell.access import SECRETS_PREFIX
from crossply.functions.builtin.shell.parameters import FIELD_REF, VALUE, VALUE_REF, kind_of
from crossply.functions.reply_limits import text_size, within_deadline
from crossply.values import Object
from crossply.values.field_path import PathError, get
from crossply.values.goformat import sprintf

_CONTEXT = re.compile(r"context\[(.+?)\].(.+)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


MAX_ARGUMENT = 120 << 10
"""The longest command, and the longest value of a variable, in bytes: the kernel takes no longer ones."""

MAX_VARIABLES = 1 << 20
"""The most bytes of all variables together: the kernel takes little more."""


class VariableError(Exception):
    """An environment variable has no value. It becomes a fatal result."""


def environment(request: Request, parameters: Object, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command; `environ` are those of this process."""
    variables, size = {}, 0
    for variable in within_deadline(parameters.get("shellEnvVars", ())):
        name, value = variable.get("key", ""), _value(request, variable)
        size += text_size(value)
        if text_size(value) > MAX_ARGUMENT or size > MAX_VARIABLES:
            raise VariableError(
                f"shellEnvVars: {sprintf('%q', [name])} is longer than {MAX_ARGUMENT >> 10} KiB, or all "
                f"variables are longer than {MAX_VARIABLES >> 10} KiB"
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
