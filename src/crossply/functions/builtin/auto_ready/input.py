"""The input of auto-ready: `autoready.fn.crossplane.io/v1beta1`.

Health checks in CEL are decoded and ignored, as in the published function without its feature gate
`CELHealthcheckCustomizations`.
"""

from __future__ import annotations

from crossply.compose.function_messages import SECOND, Request
from crossply.functions.builtin.input_decoder import OBJECT, InputError, decode, mapping, struct, text
from crossply.values import Object
from crossply.values.durations import parse_duration

__all__ = ["InputError", "read_input", "time_to_live"]

_MINUTE = 60 * SECOND
_GO_TYPE = "v1beta1.Input"
_INPUT = struct(
    _GO_TYPE,
    {
        **OBJECT,
        "ttl": text(),
        "celHealthCheckCustomization": mapping("map[string]string", text(), ""),
        "celHealthCheckCustomizationFrom": text(),
    },
)


def read_input(request: Request) -> Object:
    try:
        return decode(request, _INPUT, _GO_TYPE)
    except InputError as error:
        raise InputError(f"cannot get Function input from *v1.RunFunctionRequest: {error}") from None


def time_to_live(decoded: Object) -> int:
    """How long the response may be cached, in nanoseconds; a minute by default."""
    duration = decoded.get("ttl")
    if not duration:
        return _MINUTE
    try:
        return parse_duration(duration)
    except ValueError as error:
        raise InputError(f"cannot set ttl: {error}") from None
