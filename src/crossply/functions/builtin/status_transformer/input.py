"""The input of status-transformer: `function-status-transformer.fn.crossplane.io/v1beta1`."""

from __future__ import annotations

from crossply.compose.function_messages import Request
from crossply.functions.builtin.input_decoder import (
    OBJECT,
    InputError,
    array,
    boolean,
    decode,
    struct,
    text,
)
from crossply.values import Object

__all__ = ["InputError", "read_input"]

_CONDITION_MATCHER = struct(
    "v1beta1.ConditionMatcher",
    {"type": text(), "status": text("v1.ConditionStatus"), "reason": text(), "message": text()},
)
_MATCHER = struct(
    "v1beta1.Matcher",
    {
        "name": text(),
        "type": text("v1beta1.MatchType"),
        "resources": array(
            "[]v1beta1.ResourceMatcher", struct("v1beta1.ResourceMatcher", {"name": text()}), {}
        ),
        "conditions": array("[]v1beta1.ConditionMatcher", _CONDITION_MATCHER, {}),
        "includeCompositeAsResource": boolean,
        "includeExtraResources": boolean,
    },
)
_TARGET = text("v1beta1.Target")
_SET_CONDITION = struct(
    "v1beta1.SetCondition",
    {
        "condition": struct(
            "v1beta1.Condition",
            {"type": text(), "status": text("v1.ConditionStatus"), "reason": text(), "message": text()},
        ),
        "target": _TARGET,
        "force": boolean,
    },
)
_CREATE_EVENT = struct(
    "v1beta1.CreateEvent",
    {
        "event": struct(
            "v1beta1.Event", {"type": text("v1beta1.EventType"), "reason": text(), "message": text()}
        ),
        "target": _TARGET,
    },
)
_HOOK = struct(
    "v1beta1.StatusConditionHook",
    {
        "matchers": array("[]v1beta1.Matcher", _MATCHER, {}),
        "setConditions": array("[]v1beta1.SetCondition", _SET_CONDITION, {}),
        "createEvents": array("[]v1beta1.CreateEvent", _CREATE_EVENT, {}),
    },
)
_GO_TYPE = "v1beta1.StatusTransformation"
_INPUT = struct(
    _GO_TYPE, {**OBJECT, "statusConditionHooks": array("[]v1beta1.StatusConditionHook", _HOOK, {})}
)


def read_input(request: Request) -> list[Object]:
    hooks: list[Object] = decode(request, _INPUT, _GO_TYPE).get("statusConditionHooks", [])
    return hooks
