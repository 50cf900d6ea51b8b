"""The statements of a template, compiled into closures that write text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.go_templating.engine.compile_scope import Compiled, Scope, SetVariables
from crossply.functions.builtin.go_templating.engine.errors import ErrorSite, ExecError
from crossply.functions.builtin.go_templating.engine.expressions import pipeline, slots
from crossply.functions.builtin.go_templating.engine.go_types import NO_VALUE, Uint8
from crossply.functions.builtin.go_templating.engine.limits import MAX_TEMPLATE_DEPTH, LimitExceeded
from crossply.functions.builtin.go_templating.engine.nodes import Action, Body, Branch, Call, Jump, Text
from crossply.functions.builtin.go_templating.engine.printing import plain, text_of
from crossply.functions.builtin.go_templating.engine.render_state import Evaluate, Frame, Run
from crossply.values.goquote import quote

_BOXING = frozenset((list, dict))
"""Containers of items of any type."""


class _BreakLoop(Exception):
    """Leave the innermost range."""


class _ContinueLoop(Exception):
    """Go on with the next item of the innermost range."""


def body(scope: Scope, statements: Body) -> Run:
    """Statements one after the other."""
    steps = tuple(
        scope.on_text(statement) if isinstance(statement, Text) else _statement(scope, statement)
        for statement in statements
    )
    size = sum(len(step) for step in steps if isinstance(step, str))

    def run(frame: Frame, dot: Any) -> None:
        frame.budget.write(size)  # all the text at once
        write_text = frame.write_text
        for step in steps:
            if step.__class__ is str:
                write_text(step)
            else:
                step(frame, dot)  # type: ignore[operator]

    return run


def _statement(scope: Scope, statement: Action | Branch | Jump | Call) -> Run:
    if isinstance(statement, Action):
        return _action(scope, statement)
    if isinstance(statement, Call):
        return _call(scope, statement)
    if isinstance(statement, Jump):
        return _jump(statement)
    return _range(scope, statement) if statement.kind == "range" else _branch(scope, statement)


def _action(scope: Scope, action: Action) -> Run:
    evaluate, last, _ = pipeline(scope, action.pipe)
    if action.pipe.declared:
        return evaluate
    evaluate = scope.on_print(action, evaluate)

    def run(frame: Frame, dot: Any) -> None:
        value = evaluate(frame, dot)
        try:
            text = value if value.__class__ is str else text_of(value)
            frame.budget.write(len(text))
        except LimitExceeded as error:
            raise last.error(str(error)) from None
        frame.write_text(text)

    return run


def _jump(jump: Jump) -> Run:
    signal = _BreakLoop if jump.kind == "break" else _ContinueLoop

    def run(frame: Frame, dot: Any) -> None:
        raise signal

    return run


def _branch(scope: Scope, branch: Branch) -> Run:
    """`if` and `with`, including all their `else if`."""
    changes_dot = branch.kind == "with"
    cases: list[tuple[Evaluate, Run]] = []
    with scope.block():
        at: Branch | None = branch
        otherwise: Run | None = None
        while at is not None:
            condition = scope.on_condition(pipeline(scope, at.pipe).run)
            with scope.boxed_dot(scope.dot_is_boxed and not changes_dot):
                then = scope.on_body(at.body, body(scope, at.body), changes_dot=changes_dot)
            cases.append((condition, then))
            rest = at.otherwise
            at = _further_case(rest, branch.kind)
            if at is None and rest is not None:
                otherwise = scope.on_body(rest, body(scope, rest), changes_dot=False)
    return scope.on_branch(branch, _chosen(tuple(cases), otherwise, changes_dot))


def _further_case(otherwise: Body | None, kind: str) -> Branch | None:
    if otherwise is None or len(otherwise) != 1:
        return None
    only = otherwise[0]
    return only if isinstance(only, Branch) and only.kind == kind else None


def _chosen(cases: tuple[tuple[Evaluate, Run], ...], otherwise: Run | None, changes_dot: bool) -> Run:
    def run(frame: Frame, dot: Any) -> None:
        for condition, then in cases:
            value = condition(frame, dot)
            if value:
                then(frame, value if changes_dot else dot)
                return
        if otherwise is not None:
            otherwise(frame, dot)

    return run


def _call(scope: Scope, node: Call) -> Run:
    """`template`: the other template is looked up at run time, because it may be defined later."""
    site = scope.at(node)
    evaluate = scope.on_argument(pipeline(scope, node.pipe).run if node.pipe is not None else None)
    name = node.name

    def run(frame: Frame, dot: Any) -> None:
        render = frame.render
        template = render.find(name)
        if template is None:
            raise site.error(f"template {quote(name)} not defined")
        if render.is_too_deep():
            raise site.error(f"exceeded maximum template depth ({MAX_TEMPLATE_DEPTH})")
        value = NO_VALUE if evaluate is None else evaluate(frame, dot)
        try:
            frame.budget.check()
            render.run(template, frame.write_text, value)
        except LimitExceeded as error:
            raise site.error(str(error)) from None

    return run


def _range(scope: Scope, branch: Branch) -> Run:
    with scope.block():
        over, set_variables = _range_pipe(scope, branch)
        with scope.boxed_dot(is_boxed=True):
            repeat = scope.on_body(branch.body, body(scope, branch.body), changes_dot=True)
        otherwise = None
        if branch.otherwise is not None:
            otherwise = scope.on_body(branch.otherwise, body(scope, branch.otherwise), changes_dot=False)
    site, count = over.last, len(branch.pipe.declared)

    def run(frame: Frame, dot: Any) -> None:
        value = over.run(frame, dot)
        items = _items(value, count, site)
        check = frame.budget.check
        empty = True
        outside, frame.typed = frame.typed, value.__class__ not in _BOXING
        try:
            for index, item in items:
                empty = False
                check()
                set_variables(frame, index, item)
                try:  # a context manager would cost a call for each item
                    repeat(frame, item)
                except _ContinueLoop:
                    continue
        except _BreakLoop:
            return
        except LimitExceeded as error:
            raise site.error(str(error)) from None
        finally:
            frame.typed = outside
        if empty and otherwise is not None:
            otherwise(frame, dot)

    return scope.on_branch(branch, run)


def _range_pipe(scope: Scope, branch: Branch) -> tuple[Compiled, SetVariables]:
    """The ranged value, and the assignment of variables: one gets the item, two get index and item."""
    pipe = branch.pipe
    over = pipeline(scope, pipe._replace(declared=()))
    over = over._replace(run=scope.on_range(over.run))
    places = [slot for slot in slots(scope, pipe) if slot is not None]
    scope.box(places)
    if len(places) < len(pipe.declared):
        return over, _undeclared(over.last.error(f"undefined variable: {pipe.declared[0]}"))

    def set_nothing(frame: Frame, index: Any, item: Any) -> None:
        pass

    def set_item(frame: Frame, index: Any, item: Any) -> None:
        frame.variables[places[0]] = item

    def set_both(frame: Frame, index: Any, item: Any) -> None:
        frame.variables[places[0]] = index
        frame.variables[places[1]] = item

    return over, scope.on_item(places, (set_nothing, set_item, set_both)[len(places)])


def _undeclared(error: ExecError) -> SetVariables:
    def fail(frame: Frame, index: Any, item: Any) -> None:
        raise error

    return fail


def _items(value: Any, variables: int, site: ErrorSite) -> Iterator[tuple[Any, Any]]:
    """The items of a value with their indexes or keys; maps are sorted by key."""
    if isinstance(value, list):
        return iter(enumerate(value))
    if isinstance(value, dict):
        return iter([(key, value[key]) for key in sorted(value)])
    if value is None or value is NO_VALUE:
        return iter(())
    if isinstance(value, bytes):
        return iter([(index, Uint8(byte)) for index, byte in enumerate(value)])
    if isinstance(value, int) and not isinstance(value, bool):
        if variables > 1:
            raise site.error(f"can't use {value} to iterate over more than one variable")
        kind = type(value)
        return ((NO_VALUE, kind(number)) for number in range(value))
    raise site.error(f"range can't iterate over {plain(value)}")
