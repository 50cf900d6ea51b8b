"""function-status-transformer as its makers publish it.

Its own mistakes are conditions, too: `StatusTransformationSuccess` says what went wrong, and the pipeline
goes on, since a status that cannot be told is no reason to stop composing.
"""

from __future__ import annotations

from crossply.compose.messages import (
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
from crossply.functions.builtin.go_templating.errors import ExecError, ParseError
from crossply.functions.builtin.go_templating.limits import Budget
from crossply.functions.builtin.go_templating.program import compile_text
from crossply.functions.builtin.status_transformer.input import InputError, read_input
from crossply.functions.builtin.status_transformer.matchers import (
    Groups,
    MatchError,
    Observed,
    matched,
    observed_in,
)
from crossply.values import Object

SUCCESS = "StatusTransformationSuccess"


def run(request: Request) -> Response:
    """Set the conditions of the hooks that apply."""
    try:
        hooks = read_input(request)
    except InputError as error:
        story = f"cannot get Function input from *v1.RunFunctionRequest: {error}"
        return respond(request, conditions=(_failure("InputFailure", story),))
    try:
        observed = observed_in(request, with_extra=_want_extra_resources(hooks))
    except MatchError as error:
        story = f"cannot load extra-resources: {error}"
        return respond(request, conditions=(_failure("InputFailure", story),))
    transformation = _Transformation(observed)
    for index, hook in enumerate(hooks):
        transformation.apply(index, hook)
    return respond(request, conditions=transformation.all_conditions(), results=tuple(transformation.results))


class _Transformation:
    """What the hooks of one step have set so far."""

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self._writer = Writer()
        self._conditions: list[Condition] = []
        self._set: set[str] = set()
        self._failed = False
        self.results: list[Result] = []

    def all_conditions(self) -> tuple[Condition, ...]:
        """The conditions that were set, and whether all went well."""
        if not self._failed:
            self._conditions.append(Condition(SUCCESS, STATUS_TRUE, "Available", None, TARGET_COMPOSITE))
        return tuple(self._conditions)

    def apply(self, index: int, hook: Object) -> None:
        """Set what a hook sets, if every one of its matchers matches."""
        groups = self._matched(index, hook)
        if groups is None:
            return
        for number, given in enumerate(hook.get("setConditions", ())):
            place = f"statusConditionHookIndex: {index}, setConditionIndex: {number}"
            self._set_condition(given, groups, place)
        for number, given in enumerate(hook.get("createEvents", ())):
            try:
                self.results.append(self._writer.event(given, groups))
            except OutcomeError as error:
                place = f"statusConditionHookIndex: {index}, createEventIndex: {number}"
                self._fail("SetConditionFailure", f"cannot create event, {place}: {error}")

    def _matched(self, index: int, hook: Object) -> Groups | None:
        captured: Groups | None = None
        for number, matcher in enumerate(hook.get("matchers", ())):
            try:
                groups = matched(matcher, self._observed)
            except MatchError as error:
                place = f"statusConditionHookIndex: {index}, matchConditionIndex: {number}"
                self._fail("MatchFailure", f"cannot match resources, {place}: {error}")
                return None
            if groups is None:
                return None
            captured = {**(captured or {}), **groups}
        return captured

    def _set_condition(self, given: Object, groups: Groups, place: str) -> None:
        kind = given.get("condition", {}).get("type", "")
        if kind in self._set and not given.get("force"):
            return
        try:
            self._conditions.append(self._writer.condition(given, groups))
        except OutcomeError as error:
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
"""How long the messages of one step may take to write."""


class OutcomeError(Exception):
    """A condition or event cannot be written. It never leaves the function: it becomes a condition."""


class Writer:
    """Writes the messages of one step; all of them share one budget."""

    __slots__ = ("_budget",)

    def __init__(self) -> None:
        self._budget = Budget(_SECONDS)

    def condition(self, given: Object, groups: Groups) -> Condition:
        """The condition that a hook sets."""
        said = given.get("condition", {})
        status = _STATUSES.get(said.get("status", ""), STATUS_UNKNOWN)
        message = self._message(said.get("message"), groups)
        return Condition(said.get("type", ""), status, said.get("reason", ""), message, _target(given))

    def event(self, given: Object, groups: Groups) -> Result:
        """The event that a hook creates."""
        said = given.get("event", {})
        kind = said.get("type", "Normal")
        if kind not in _SEVERITIES:
            raise OutcomeError(f"invalid type {kind}, must be one of [Normal, Warning]")
        message = self._message(said.get("message"), groups) or ""
        return Result(_SEVERITIES[kind], message, said.get("reason"), _target(given))

    def _message(self, text: str | None, groups: Groups) -> str | None:
        """A message is a template only where there is something to put into it."""
        if text is None or not groups:
            return text
        try:
            return compile_text(text).render(groups, (), self._budget)
        except ParseError as error:
            raise OutcomeError(f"cannot parse template: {_unnamed(error)}") from None
        except ExecError as error:
            raise OutcomeError(f"cannot execute template: {_unnamed(error)}") from None


def _target(given: Object) -> int:
    return TARGET_COMPOSITE_AND_CLAIM if given.get("target") == "CompositeAndClaim" else TARGET_COMPOSITE


def _unnamed(error: Exception) -> str:
    """An error of a template that has no name of its own."""
    return str(error).replace("template: manifests:", "template: :", 1)
