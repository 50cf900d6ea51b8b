"""function-sequencer: delay the creation of resources, and order deletion with Usages.

Existing resources are never removed: a sequence only delays creation. The input is
`sequencer.fn.crossplane.io/v1beta1`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    SECOND,
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
from crossply.functions.builtin.input_decoder import (
    OBJECT,
    InputError,
    array,
    boolean,
    decode,
    struct,
    text,
)
from crossply.functions.builtin.usages import is_usage, usage
from crossply.functions.reply_limits import Meter, size_of
from crossply.values.durations import parse_duration
from crossply.values.goquote import quote
from crossply.values.regexp import RegexpError, compile_go


def run(request: Request) -> Response:
    try:
        step_input = read_input(request)
    except InputError as error:
        return fatal(request, f"cannot get Function input from *v1.RunFunctionRequest: {error}")
    except TtlError as error:
        return fatal(request, str(error))
    state = SequenceState(request, step_input)
    try:
        for rule in step_input.rules:
            _apply(rule, state, request)
    except SequenceError as error:
        return fatal(request, str(error), ttl=step_input.ttl)
    return respond(
        request,
        ttl=step_input.ttl,
        desired=_desired(request, step_input, state),
        results=tuple(_normal(message) for message in state.messages),
    )


def _apply(rule: Rule, state: SequenceState, request: Request) -> None:
    if not rule.condition or _is_condition_true(rule, request):
        state.apply(rule)
        return
    sequence_text = f"[{' '.join(rule.sequence)}]"
    state.messages.append(
        f"Skipping sequence {sequence_text}: condition {quote(rule.condition)} evaluated to false"
    )
    if rule.deletes:
        for before, after in zip(rule.sequence, rule.sequence[1:], strict=False):
            state.order_deletion(before, after)


def _is_condition_true(rule: Rule, request: Request) -> bool:
    from crossply.functions.builtin.cel_filter.expressions import ExpressionError, evaluate

    try:
        return evaluate(request, [rule.condition])[0]
    except ExpressionError as error:
        sequence_text = f"[{' '.join(rule.sequence)}]"
        raise SequenceError(
            f"cannot evaluate condition {quote(rule.condition)} for sequence {sequence_text}: {error}"
        ) from None


def _desired(request: Request, step_input: Input, state: SequenceState) -> State:
    composite = request.desired.composite
    if step_input.resets_readiness and state.has_delays:
        before = composite or Resource({})
        composite = Resource(before.object, before.connection_details, READY_FALSE, before.snapshot)
    return State(composite, {**state.desired, **state.usages})


def _normal(message: str) -> Result:
    return Result(SEVERITY_NORMAL, message, None, TARGET_COMPOSITE)


class SequenceError(Exception):
    """A rule cannot be applied. It never leaves the function: it becomes a fatal result."""


class SequenceState:
    """The desired resources of a step while its rules are applied in order."""

    def __init__(self, request: Request, step_input: Input) -> None:
        self._input = step_input
        self._meter = Meter()
        self._observed = request.observed.resources
        self.desired = dict(request.desired.resources)
        self.usages: dict[str, Resource] = {}
        self.messages: list[str] = []
        self.has_delays = False
        """Whether any desired resource is delayed."""

    def apply(self, rule: Rule) -> None:
        """Delay resources by a rule, and order the deletion of existing ones."""
        for index in range(1, len(rule.sequence)):
            if rule.deletes:
                self.order_deletion(rule.sequence[index - 1], rule.sequence[index])
            if rule.creates and rule.sequence[index] not in self._observed:
                self._delay(rule.sequence[index], rule.sequence[:index])

    def order_deletion(self, before: str, after: str) -> None:
        """Desire a Usage for each pair of existing resources that match two neighbours of a sequence."""
        version = self._input.usage_version
        first, second = anchored_pattern(before), anchored_pattern(after)
        protected = [name for name in sorted(self.desired) if name in self._observed and first.search(name)]
        for by in sorted(name for name in self._observed if second.search(name)):
            user = self._observed[by].object
            if is_usage(user, version):
                continue
            for of in protected:
                usage_resource = usage(self._observed[of].object, user, self._input.replays_deletion, version)
                # Pairs are many more than resources.
                self._meter.add(size_of(usage_resource.object))
                self.usages[f"{by}-{of}-usage"] = usage_resource

    def _delay(self, name: str, needs: Iterable[str]) -> None:
        waiting = anchored_pattern(name)
        for before in needs:
            self._meter.add(0)
            unready_reason = self._unready_reason(before)
            if unready_reason:
                waits = f"Delaying creation of resource(s) matching {quote(name)}"
                self.messages.append(f"{waits} because {quote(before)} {unready_reason}")
                self._withhold(waiting)
                return

    def _unready_reason(self, before: str) -> str:
        pattern = anchored_pattern(before)
        matching = [resource for name, resource in self.desired.items() if pattern.search(name)]
        ready = sum(resource.ready == READY_TRUE for resource in matching)
        if not matching:
            return "does not exist yet"
        return "" if ready == len(matching) else f"is not fully ready ({ready} of {len(matching)})"

    def _withhold(self, pattern: Any) -> None:
        for name in [
            candidate
            for candidate in self.desired
            if pattern.search(candidate) and candidate not in self._observed
        ]:
            del self.desired[name]
            self.has_delays = True


@lru_cache(maxsize=512)
def anchored_pattern(pattern: str) -> Any:
    """A pattern that must match a whole name, unless it has an anchor of its own."""
    anchored = pattern if pattern.startswith("^") or pattern.endswith("$") else f"^{pattern}$"
    try:
        return compile_go(anchored)
    except RegexpError as error:
        raise SequenceError(f"cannot compile regex {pattern}: {error}") from None


_MINUTE = 60 * SECOND
_RULE = struct(
    "v1beta1.SequencingRule",
    {
        "sequence": array("[]resource.Name", text("resource.Name"), ""),
        "condition": text(),
        "createOnly": boolean,
        "deleteOnly": boolean,
    },
)
_GO_TYPE = "v1beta1.Input"
_INPUT = struct(
    _GO_TYPE,
    {
        **OBJECT,
        "rules": array("[]v1beta1.SequencingRule", _RULE, {}),
        "resetCompositeReadiness": boolean,
        "enableDeletionSequencing": boolean,
        "replayDeletion": boolean,
        "usageVersion": text("v1beta1.UsageVersion"),
        "cacheTTL": text(),
    },
)


class Rule(NamedTuple):
    """Names of resources, or patterns, in the order of their creation."""

    sequence: list[str]
    condition: str
    creates: bool
    """Whether the rule orders creation."""
    deletes: bool
    """Whether the rule orders deletion."""


class Input(NamedTuple):
    """The decoded input of a step."""

    rules: list[Rule]
    resets_readiness: bool
    replays_deletion: bool
    usage_version: str
    ttl: int


def read_input(request: Request) -> Input:
    decoded = decode(request, _INPUT, _GO_TYPE)
    deletes = decoded.get("enableDeletionSequencing", False)
    return Input(
        [_rule(rule, deletes) for rule in decoded.get("rules", ())],
        decoded.get("resetCompositeReadiness", False),
        decoded.get("replayDeletion", False),
        decoded.get("usageVersion", ""),
        _ttl(decoded.get("cacheTTL", "")),
    )


def _rule(decoded: dict[str, object], deletes: bool) -> Rule:
    create_only, delete_only = bool(decoded.get("createOnly")), bool(decoded.get("deleteOnly"))
    if create_only and delete_only:
        raise InputError("createOnly and deleteOnly exclude each other in a rule")
    sequence = decoded.get("sequence", [])
    assert isinstance(sequence, list)
    return Rule(sequence, str(decoded.get("condition", "")), not delete_only, deletes and not create_only)


def _ttl(duration: str) -> int:
    if not duration:
        return _MINUTE
    try:
        return parse_duration(duration)
    except ValueError as error:
        raise TtlError(f"cannot set cacheTTL: {error}") from None


class TtlError(Exception):
    """The time to live is no duration. It never leaves the function: it becomes a fatal result."""
