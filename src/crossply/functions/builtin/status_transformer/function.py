"""function-status-transformer as its makers publish it.

Its own mistakes are conditions, too: `StatusTransformationSuccess` says what went wrong, and the pipeline
goes on, since a status that cannot be told is no reason to stop composing.
"""

from __future__ import annotations

from crossply.compose.messages import (
    STATUS_FALSE,
    STATUS_TRUE,
    TARGET_COMPOSITE,
    Condition,
    Request,
    Response,
    Result,
    respond,
)
from crossply.functions.builtin.status_transformer.input import InputError, read_input
from crossply.functions.builtin.status_transformer.matching import (
    Groups,
    MatchError,
    Observed,
    matched,
    observed_in,
)
from crossply.functions.builtin.status_transformer.outcome import OutcomeError, Writer
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
