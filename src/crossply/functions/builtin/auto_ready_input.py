"""What a step may say to auto-ready: the fields of `autoready.fn.crossplane.io/v1beta1`."""

from __future__ import annotations

from crossply.compose.messages import SECOND, Request
from crossply.functions.builtin.input_decoding import OBJECT, InputError, decode, struct, text
from crossply.values import Object
from crossply.values.durations import parse_duration

__all__ = ["InputError", "read_input", "time_to_live"]

_MINUTE = 60 * SECOND
_GO_TYPE = "v1beta1.Input"
_SHAPE = struct(_GO_TYPE, {**OBJECT, "ttl": text(), "celHealthCheckCustomizationFrom": text()})


def read_input(request: Request) -> Object:
    """The function's input."""
    return decode(request, _SHAPE, _GO_TYPE)


def time_to_live(given: Object) -> int:
    """How long the answer may be reused: what the input says, or a minute."""
    duration = given.get("ttl")
    if not duration:
        return _MINUTE
    try:
        return parse_duration(duration)
    except ValueError as error:
        raise InputError(f"cannot parse ttl: {error}") from None
