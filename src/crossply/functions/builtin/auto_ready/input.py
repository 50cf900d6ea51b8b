"""What a step may say to auto-ready: the fields of `autoready.fn.crossplane.io/v1beta1`.

Health checks in CEL are read and have no effect, as in the published function without its feature gate
`CELHealthcheckCustomizations`.
"""

from __future__ import annotations

from crossply.compose.messages import SECOND, Request
from crossply.functions.builtin.input_decoder import OBJECT, InputError, decode, mapping, struct, text
from crossply.values import Object
from crossply.values.durations import parse_duration

__all__ = ["InputError", "read_input", "time_to_live"]

_MINUTE = 60 * SECOND
_GO_TYPE = "v1beta1.Input"
_SHAPE = struct(
    _GO_TYPE,
    {
        **OBJECT,
        "ttl": text(),
        "celHealthCheckCustomization": mapping("map[string]string", text(), ""),
        "celHealthCheckCustomizationFrom": text(),
    },
)


def read_input(request: Request) -> Object:
    """The function's input."""
    try:
        return decode(request, _SHAPE, _GO_TYPE)
    except InputError as error:
        raise InputError(f"cannot get Function input from *v1.RunFunctionRequest: {error}") from None


def time_to_live(given: Object) -> int:
    """How long the answer may be reused: what the input says, or a minute."""
    duration = given.get("ttl")
    if not duration:
        return _MINUTE
    try:
        return parse_duration(duration)
    except ValueError as error:
        raise InputError(f"cannot set ttl: {error}") from None
