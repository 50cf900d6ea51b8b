"""function-sequencer as its makers publish it."""

from __future__ import annotations

from crossply.compose.messages import (
    READY_FALSE,
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
from crossply.functions.builtin.sequencer.sequencing import SequenceError, Sequencing
from crossply.values.goquote import quote


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
