"""What a step may say to cel-filter: the fields of `cel.fn.crossplane.io/v1beta1`.

`filters` is the published function's; `validations` is ours.
"""

from __future__ import annotations

from crossply.compose.messages import Request
from crossply.functions.builtin.input_decoding import OBJECT, InputError, array, decode, struct, text
from crossply.values import Object

__all__ = ["InputError", "read_input"]

_FILTER = struct("v1beta1.Filter", {"name": text(), "expression": text()})
_VALIDATION = struct(
    "v1beta1.Validation",
    {
        "name": text(),
        "expression": text(),
        "message": text(),
        "messageExpression": text(),
        "severity": text("v1beta1.Severity"),
    },
)
_GO_TYPE = "v1beta1.Filters"
_SHAPE = struct(
    _GO_TYPE,
    {
        **OBJECT,
        "filters": array("[]v1beta1.Filter", _FILTER, {}),
        "validations": array("[]v1beta1.Validation", _VALIDATION, {}),
    },
)


def read_input(request: Request) -> Object:
    """The function's input; InputError says what is wrong with it."""
    return decode(request, _SHAPE, _GO_TYPE)
