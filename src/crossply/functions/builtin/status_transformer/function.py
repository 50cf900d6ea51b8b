"""function-status-transformer: set conditions and create events for the hooks that match.

Its own errors are conditions, too: `StatusTransformationSuccess` reports them and the pipeline continues,
because a missing status is no reason to stop composing. Text that patterns capture is available in
messages. The input is `function-status-transformer.fn.crossplane.io/v1beta1`.
"""

from __future__ import annotations

from crossply.compose.function_messages import (
    SEVERITY_NORMAL,
    SEVERITY_WARNING,
    STATUS_FALSE,
    STATUS_TRUE,
    STATUS_UNKNOWN,
    TARGET_COMPOSITE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    Request,
    Response,
    Result,
    respond,
)
from crossply.functions.builtin.go_templating.engine.errors import ExecError, ParseError
from crossply.functions.builtin.go_templating.engine.limits import Budget
from crossply.functions.builtin.go_templating.program import compile_text
from crossply.functions.builtin.input_decoder import (
    OBJECT,
    InputError,
    array,
    boolean,
    decode,
    struct,
    text,
)
from crossply.functions.builtin.status_transformer.matchers import (
    Groups,
    MatchError,
    Observed,
    match_groups,
    read_observed,
)
from crossply.values import Object

SUCCESS = "StatusTransformationSuccess"


def run(request: Request) -> Response:
    try:
        hooks = read_input(request)
    except InputError as error:
        message = f"cannot get Function input from *v1.RunFunctionRequest: {error}"
        return respond(request, conditions=(_failure("InputFailure", message),))
    try:
        observed = read_observed(request, with_extra=_want_extra_resources(hooks))
    except MatchError as error:
        message = f"cannot load extra-resources: {error}"
        return respond(request, conditions=(_failure("InputFailure", message),))
    transformation = _Transformation(observed)
    for index, hook in enumerate(hooks):
        transformation.apply(index, hook)
    return respond(request, conditions=transformation.all_conditions(), results=tuple(transformation.results))


class _Transformation:
    """The conditions and events of one step so far."""

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self._writer = StatusWriter()
        self._conditions: list[Condition] = []
        self._set: set[str] = set()
        self._failed = False
        self.results: list[Result] = []

    def all_conditions(self) -> tuple[Condition, ...]:
        """The conditions that were set, and the success condition."""
        if not self._failed:
            self._conditions.append(Condition(SUCCESS, STATUS_TRUE, "Available", None, TARGET_COMPOSITE))
        return tuple(self._conditions)

    def apply(self, index: int, hook: Object) -> None:
        """Set conditions and create events if all matchers of the hook match."""
        groups = self._match_groups(index, hook)
        if groups is None:
            return
        for number, settings in enumerate(hook.get("setConditions", ())):
            place = f"statusConditionHookIndex: {index}, setConditionIndex: {number}"
            self._set_condition(settings, groups, place)
        for number, settings in enumerate(hook.get("createEvents", ())):
            try:
                self.results.append(self._writer.event(settings, groups))
            except StatusError as error:
                place = f"statusConditionHookIndex: {index}, createEventIndex: {number}"
                self._fail("SetConditionFailure", f"cannot create event, {place}: {error}")

    def _match_groups(self, index: int, hook: Object) -> Groups | None:
        captured: Groups | None = None
        for number, matcher in enumerate(hook.get("matchers", ())):
            try:
                groups = match_groups(matcher, self._observed)
            except MatchError as error:
                place = f"statusConditionHookIndex: {index}, matchConditionIndex: {number}"
                self._fail("MatchFailure", f"cannot match resources, {place}: {error}")
                return None
            if groups is None:
                return None
            captured = {**(captured or {}), **groups}
        return captured

    def _set_condition(self, settings: Object, groups: Groups, place: str) -> None:
        kind = settings.get("condition", {}).get("type", "")
        if kind in self._set and not settings.get("force"):
            return
        try:
            self._conditions.append(self._writer.condition(settings, groups))
        except StatusError as error:
            self._fail("SetConditionFailure", f"cannot set condition, {place}: {error}")
        else:
            self._set.add(kind)

    def _fail(self, reason: str, message: str) -> None:
        self._failed = True
        self._conditions.append(_failure(reason, message))


def _failure(reason: str, message: str) -> Condition:
    return Condition(SUCCESS, STATUS_FALSE, reason, message, TARGET_COMPOSITE)


def _want_extra_resources(hooks: list[Object]) -> bool:
    return any(matcher.get("includeExtraResources") for hook in hooks for matcher in hook.get("matchers", ()))


_STATUSES = {"True": STATUS_TRUE, "False": STATUS_FALSE}
_SEVERITIES = {"Normal": SEVERITY_NORMAL, "Warning": SEVERITY_WARNING}
_SECONDS = 2.0
"""How many seconds the message templates of one step may take."""


class StatusError(Exception):
    """A condition or event is invalid. It never leaves the function: it becomes a condition."""


class StatusWriter:
    """Builds conditions and events; the messages of one step share one budget."""

    __slots__ = ("_budget",)

    def __init__(self) -> None:
        self._budget = Budget(_SECONDS)

    def condition(self, settings: Object, groups: Groups) -> Condition:
        condition = settings.get("condition", {})
        status = _STATUSES.get(condition.get("status", ""), STATUS_UNKNOWN)
        message = self._message(condition.get("message"), groups)
        return Condition(
            condition.get("type", ""), status, condition.get("reason", ""), message, _target(settings)
        )

    def event(self, settings: Object, groups: Groups) -> Result:
        event = settings.get("event", {})
        kind = event.get("type", "Normal")
        if kind not in _SEVERITIES:
            raise StatusError(f"invalid type {kind}, must be one of [Normal, Warning]")
        message = self._message(event.get("message"), groups) or ""
        return Result(_SEVERITIES[kind], message, event.get("reason"), _target(settings))

    def _message(self, text: str | None, groups: Groups) -> str | None:
        """Render the template of a message. Without captured groups a message is no template."""
        if text is None or not groups:
            return text
        try:
            return compile_text(text).render(groups, (), self._budget)
        except ParseError as error:
            raise StatusError(f"cannot parse template: {_without_template_name(error)}") from None
        except ExecError as error:
            raise StatusError(f"cannot execute template: {_without_template_name(error)}") from None


def _target(settings: Object) -> int:
    return TARGET_COMPOSITE_AND_CLAIM if settings.get("target") == "CompositeAndClaim" else TARGET_COMPOSITE


def _without_template_name(error: Exception) -> str:
    """The error without the name of the template."""
    return str(error).replace("template: manifests:", "template: :", 1)


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
