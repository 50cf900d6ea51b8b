"""function-sequencer as its makers publish it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from crossply.compose.messages import (
    READY_FALSE,
    READY_TRUE,
    SEVERITY_NORMAL,
    TARGET_COMPOSITE,
    Request,
    Resource,
    Response,
    Result,
    State,
    fatal,
    respond,
)
from crossply.functions.builtin.sequencer.input import Input, InputError, Rule, read_input
from crossply.functions.builtin.sequencer.usages import is_usage, usage
from crossply.values.goquote import quote
from crossply.values.regexp import RegexpError, compile_go


def run(request: Request) -> Response:
    """Hold back the desired resources whose turn has not come."""
    try:
        given = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    sequencing = Sequencing(request, given)
    try:
        for rule in given.rules:
            _apply(rule, sequencing, request)
    except SequenceError as error:
        return fatal(request, str(error), ttl=given.ttl)
    return respond(
        request,
        ttl=given.ttl,
        desired=_desired(request, given, sequencing),
        results=tuple(_normal(message) for message in sequencing.messages),
    )


def _apply(rule: Rule, sequencing: Sequencing, request: Request) -> None:
    if not rule.condition or _holds(rule, request):
        sequencing.apply(rule)
        return
    shown = f"[{' '.join(rule.sequence)}]"
    sequencing.messages.append(
        f"Skipping sequence {shown}: condition {quote(rule.condition)} evaluated to false"
    )
    if rule.deletes:
        for before, after in zip(rule.sequence, rule.sequence[1:], strict=False):
            sequencing.keep_order(before, after)


def _holds(rule: Rule, request: Request) -> bool:
    from crossply.functions.builtin.cel_filter.expressions import ExpressionError, evaluate

    try:
        return evaluate(request, [rule.condition])[0]
    except ExpressionError as error:
        shown = f"[{' '.join(rule.sequence)}]"
        raise SequenceError(
            f"cannot evaluate condition {quote(rule.condition)} for sequence {shown}: {error}"
        ) from None


def _desired(request: Request, given: Input, sequencing: Sequencing) -> State:
    composite = request.desired.composite
    if given.resets_readiness and sequencing.delays:
        before = composite or Resource({})
        composite = Resource(before.object, before.connection_details, READY_FALSE, before.snapshot)
    return State(composite, {**sequencing.desired, **sequencing.usages})


def _normal(message: str) -> Result:
    return Result(SEVERITY_NORMAL, message, None, TARGET_COMPOSITE)


class SequenceError(Exception):
    """A rule cannot be applied. It never leaves the function: it becomes a fatal result."""


class Sequencing:
    """The desired resources of a step while its rules are applied, one after the other."""

    def __init__(self, request: Request, given: Input) -> None:
        self._given = given
        self._observed = request.observed.resources
        self.desired = dict(request.desired.resources)
        self.usages: dict[str, Resource] = {}
        self.messages: list[str] = []
        self.delays = False
        """Whether a desired resource has to wait."""

    def apply(self, rule: Rule) -> None:
        """Delay what the rule delays, and keep the order of what exists."""
        for index in range(1, len(rule.sequence)):
            if rule.deletes:
                self.keep_order(rule.sequence[index - 1], rule.sequence[index])
            if rule.creates and rule.sequence[index] not in self._observed:
                self._delay(rule.sequence[index], rule.sequence[:index])

    def keep_order(self, before: str, after: str) -> None:
        """Write a Usage for every pair of existing resources that match two neighbours of a sequence."""
        version = self._given.usage_version
        first, second = strict_pattern(before), strict_pattern(after)
        kept = [name for name in sorted(self.desired) if name in self._observed and first.search(name)]
        for by in sorted(name for name in self._observed if second.search(name)):
            user = self._observed[by].object
            if is_usage(user, version):
                continue
            for of in kept:
                made = usage(self._observed[of].object, user, self._given.replays_deletion, version)
                self.usages[f"{by}-{of}-usage"] = made

    def _delay(self, name: str, needs: Iterable[str]) -> None:
        waiting = strict_pattern(name)
        for before in needs:
            problem = self._unready(before)
            if problem:
                waits = f"Delaying creation of resource(s) matching {quote(name)}"
                self.messages.append(f"{waits} because {quote(before)} {problem}")
                self._withhold(waiting)
                return

    def _unready(self, before: str) -> str:
        pattern = strict_pattern(before)
        found = [resource for name, resource in self.desired.items() if pattern.search(name)]
        ready = sum(resource.ready == READY_TRUE for resource in found)
        if not found:
            return "does not exist yet"
        return "" if ready == len(found) else f"is not fully ready ({ready} of {len(found)})"

    def _withhold(self, pattern: Any) -> None:
        for name in [each for each in self.desired if pattern.search(each) and each not in self._observed]:
            del self.desired[name]
            self.delays = True


@lru_cache(maxsize=512)
def strict_pattern(pattern: str) -> Any:
    """A pattern that must match a whole name, unless it says itself where it begins or ends."""
    whole = pattern if pattern.startswith("^") or pattern.endswith("$") else f"^{pattern}$"
    try:
        return compile_go(whole)
    except RegexpError as error:
        raise SequenceError(f"cannot compile regex {pattern}: {error}") from None
