"""The input of function-shell: `shell.fn.crossplane.io/v1alpha1`, kind `Parameters`."""

from __future__ import annotations

from crossply.compose.function_messages import Request
from crossply.functions.builtin.input_decoder import OBJECT, array, decode, struct, text
from crossply.values import Object

VALUE, VALUE_REF, FIELD_REF = "Value", "ValueRef", "FieldRef"

_GO_TYPE = "v1alpha1.Parameters"
_FIELD_REF = struct(
    "v1alpha1.FieldRef",
    {"path": text(), "policy": text("v1alpha1.FieldRefPolicy"), "defaultValue": text()},
)
_VARIABLE = struct(
    "v1alpha1.ShellEnvVar",
    {
        **dict.fromkeys(("key", "value", "valueRef"), text()),
        "fieldRef": _FIELD_REF,
        "type": text("v1alpha1.ShellEnvVarType"),
    },
)
_VARIABLES_REF = struct("v1alpha1.ShellEnvVarsRef", {"keys": array("[]string", text(), ""), "name": text()})
_PARAMETERS = struct(
    _GO_TYPE,
    {
        **OBJECT,
        **dict.fromkeys(
            ("shellCommand", "shellCommandField", "stdoutField", "stderrField", "cacheTTL"), text()
        ),
        "shellEnvVars": array("[]v1alpha1.ShellEnvVar", _VARIABLE, {}),
        "shellEnvVarsRef": _VARIABLES_REF,
    },
)


class ParameterError(Exception):
    """The parameters contradict each other. It becomes a fatal result."""


def read_parameters(request: Request) -> Object:
    """The decoded input; raises InputError."""
    return decode(request, _PARAMETERS, _GO_TYPE)


def validate(parameters: Object) -> None:
    """Raise ParameterError unless there is one command."""
    commands = [name for name in ("shellCommand", "shellCommandField") if parameters.get(name)]
    if len(commands) != 1:
        number = "exactly one" if commands else "one"
        raise ParameterError(
            f"parameters: Required value: {number} of ShellCommand or ShellCommandField is required"
        )


def kind_of(variable: Object) -> str:
    """How the value of an environment variable is found; empty where nothing says."""
    if variable.get("type"):
        return str(variable["type"])
    for field, kind in (("value", VALUE), ("valueRef", VALUE_REF)):
        if variable.get(field):
            return kind
    return FIELD_REF if "fieldRef" in variable else ""
