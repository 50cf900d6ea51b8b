"""Compiling a template so that a render of it is traced.

Each compiled piece is wrapped. A wrapper calls the piece and works out what its result depends on, which it
leaves in `Tracer.taint` for the piece around it. The values themselves are computed by the engine alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossply.functions.builtin.go_templating.engine.arguments import ABSENT
from crossply.functions.builtin.go_templating.engine.body_side_effects import Assignments, assignments_in
from crossply.functions.builtin.go_templating.engine.compile_scope import Invoke, Scope, SetVariables
from crossply.functions.builtin.go_templating.engine.function_taints import result_taint
from crossply.functions.builtin.go_templating.engine.nodes import (
    Action,
    Body,
    Branch,
    Chain,
    Dot,
    Field,
    Operand,
    Text,
    Tree,
    Variable,
)
from crossply.functions.builtin.go_templating.engine.render_state import (
    Evaluate,
    Frame,
    Run,
)
from crossply.functions.builtin.go_templating.engine.signatures import Function
from crossply.functions.builtin.go_templating.engine.taints import CLEAN, Taint, is_container
from crossply.functions.builtin.go_templating.engine.traced_render_state import (
    Choice,
    OpenBranch,
    TracedOutput,
    Tracer,
)
from crossply.functions.builtin.go_templating.engine.untaken_text import UntakenText, untaken_text


class TracingScope(Scope):
    """Compiles one template for a tracer."""

    __slots__ = ("_tracer",)

    def __init__(self, tracer: Tracer, tree: Tree, functions: Mapping[str, Function]) -> None:
        super().__init__(tree, functions)
        self._tracer = tracer

    def on_text(self, text: Text) -> str | Run:
        tracer = self._tracer

        def run(frame: Frame, dot: Any) -> None:
            tracer.printing = (text.at, True, CLEAN)
            frame.write_text(text.text)

        return run

    def on_print(self, action: Action, run: Evaluate) -> Evaluate:
        tracer = self._tracer

        def evaluate(frame: Frame, dot: Any) -> Any:
            value = run(frame, dot)
            tracer.printing = (action.at, False, tracer.shadows.whole(value, tracer.taint))
            return value

        return evaluate

    def on_read(self, node: Operand, run: Evaluate) -> Evaluate:
        tracer = self._tracer
        if isinstance(node, Chain):
            return self._read_chain(node, run)
        if isinstance(node, Field | Dot):
            names = node.names if isinstance(node, Field) else ()

            def read_dot(frame: Frame, dot: Any) -> Any:
                value = run(frame, dot)
                tracer.taint = tracer.shadows.field(dot, names, tracer.dot)[1]
                return value

            return read_dot
        if isinstance(node, Variable):
            slot = self.slot(node.names[0])
            assert slot is not None
            return self._read_variable(slot, node.names[1:], run)

        def read_constant(frame: Frame, dot: Any) -> Any:
            tracer.taint = CLEAN
            return run(frame, dot)

        return read_constant

    def _read_variable(self, slot: int, names: tuple[str, ...], run: Evaluate) -> Evaluate:
        tracer = self._tracer

        def read(frame: Frame, dot: Any) -> Any:
            value = run(frame, dot)
            start = frame.variables[slot]
            tracer.taint = tracer.shadows.field(start, names, tracer.variable(frame, slot))[1]
            return value

        return read

    def _read_chain(self, node: Chain, run: Evaluate) -> Evaluate:
        tracer = self._tracer

        def read(frame: Frame, dot: Any) -> Any:
            value = run(frame, dot)
            start, taint = tracer.stack.pop()
            tracer.taint = tracer.shadows.field(start, node.names, taint)[1]
            return value

        return read

    def on_chain(self, run: Evaluate) -> Evaluate:
        return self._pushed(run)

    def _pushed(self, run: Evaluate) -> Evaluate:
        tracer = self._tracer

        def evaluate(frame: Frame, dot: Any) -> Any:
            tracer.taint = CLEAN  # a constant has no wrapper
            value = run(frame, dot)
            tracer.stack.append((value, tracer.taint))
            return value

        return evaluate

    def on_call(
        self, name: str, evaluate: tuple[Evaluate, ...], invoke: Invoke, piped: bool
    ) -> tuple[tuple[Evaluate, ...], Invoke]:
        tracer = self._tracer
        count = len(evaluate)

        def call(frame: Frame, values: tuple[Any, ...]) -> Any:
            taints = [taint for _, taint in tracer.stack[len(tracer.stack) - count :]]
            del tracer.stack[len(tracer.stack) - count :]
            if piped:
                taints.append(tracer.stack.pop()[1])
            if name == "include":
                tracer.argument = taints[-1] if taints else CLEAN
            result = invoke(frame, values)
            if name == "include":
                tracer.taint = tracer.included.union(*taints[:1])
            else:
                tracer.taint = result_taint(name, tracer.shadows, values, taints, result, tracer.controlled())
            if is_container(result):
                tracer.shadows.of(result, tracer.taint)
            return result

        return tuple(map(self._pushed, evaluate)), call

    def on_stage(self, stage: Any) -> Any:
        tracer = self._tracer

        def run(frame: Frame, dot: Any, final: Any) -> Any:
            tracer.stack.append((final, tracer.taint))
            return stage(frame, dot, final)

        return run

    def on_short_circuit(self, run: Any) -> Any:
        tracer = self._tracer

        def evaluate(frame: Frame, dot: Any, final: Any = ABSENT) -> Any:
            taint = CLEAN if final is ABSENT else tracer.taint
            mark = len(tracer.stack)
            value = run(frame, dot, final)
            tested = [tracer.shadows.keys(*pair) for pair in tracer.stack[mark:]]
            del tracer.stack[mark:]
            tracer.taint = taint.union(*tested)
            return value

        return evaluate

    def on_method(self, stage: Any) -> Any:
        tracer = self._tracer

        def run(frame: Frame, dot: Any, final: Any) -> Any:
            # Which arguments a method takes is known only when it runs: it may depend on all that is here.
            everything = tracer.taint | tracer.shadows.whole(dot, tracer.dot)
            value = stage(frame, dot, final)
            slots = range(len(frame.variables))
            variable_taints = [
                tracer.shadows.whole(frame.variables[s], tracer.variable(frame, s)) for s in slots
            ]
            tracer.taint = everything.union(tracer.taint, *variable_taints)
            return value

        return run

    def on_store(self, places: tuple[int | None, ...], run: Evaluate) -> Evaluate:
        tracer = self._tracer

        def store(frame: Frame, dot: Any) -> Any:
            value = run(frame, dot)
            for slot in places:
                if slot is not None:
                    tracer.set_variable(frame, slot, tracer.taint | tracer.controlled())
            return value

        return store

    def on_condition(self, run: Evaluate) -> Evaluate:
        tracer = self._tracer

        def evaluate(frame: Frame, dot: Any) -> Any:
            value = run(frame, dot)
            branch = tracer.branches[-1]
            branch.conditions |= tracer.shadows.keys(value, tracer.taint)
            branch.dot = tracer.taint
            return value

        return evaluate

    def on_range(self, run: Evaluate) -> Evaluate:
        tracer = self._tracer

        def evaluate(frame: Frame, dot: Any) -> Any:
            value = run(frame, dot)
            branch = tracer.branches[-1]
            branch.conditions |= tracer.shadows.keys(value, tracer.taint)
            branch.ranged, branch.ranged_taint = value, tracer.taint
            return value

        return evaluate

    def on_item(self, places: list[int], set_variables: SetVariables) -> SetVariables:
        tracer = self._tracer

        def set_and_trace(frame: Frame, index: Any, item: Any) -> None:
            set_variables(frame, index, item)
            branch = tracer.branches[-1]
            branch.dot = branch.ranged_taint
            if is_container(branch.ranged):
                branch.dot = tracer.shadows.item(branch.ranged, index, branch.ranged_taint)
            taints = (branch.conditions, branch.dot) if len(places) == 2 else (branch.dot,)
            for slot, taint in zip(places, taints, strict=False):
                tracer.set_variable(frame, slot, taint | tracer.controlled())

        return set_and_trace

    def on_body(self, body: Body, run: Run, *, changes_dot: bool) -> Run:
        tracer = self._tracer

        def run_body(frame: Frame, dot: Any) -> None:
            branch = tracer.branches[-1]
            branch.rendered.add(id(body))
            outside = tracer.dot
            if changes_dot:
                tracer.dot = branch.dot
            try:
                with tracer.under(branch.conditions):
                    run(frame, dot)
            finally:
                tracer.dot = outside

        return run_body

    def on_branch(self, branch: Branch, run: Run) -> Run:
        tracer = self._tracer
        bodies = _bodies(branch)
        untaken = {id(body): untaken_text(body) for body in bodies}
        changes = {id(body): assignments_in(body, self.slot) for body in bodies}
        jumps = any(change.jumps for change in changes.values())
        is_loop = branch.kind == "range"

        def run_branch(frame: Frame, dot: Any) -> None:
            state = OpenBranch()
            output, depth = tracer.outputs[-1], len(tracer.branches)
            start = output.length
            tracer.branches.append(state)
            if is_loop:
                tracer.loops.append(CLEAN)
            try:
                run(frame, dot)
            finally:
                del tracer.branches[depth:]
                loop = tracer.loops.pop() if is_loop else CLEAN
                taint = state.conditions | loop | tracer.controlled()
                if jumps and not is_loop and tracer.loops:
                    tracer.loops[-1] |= taint
            other = [body for body in untaken if body not in state.rendered]
            for body in other:
                _note_changes(tracer, changes[body], frame, dot, taint)
            _note_choice(output, start, taint, [untaken[body] for body in other])

        return run_branch

    def on_argument(self, run: Evaluate | None) -> Evaluate | None:
        tracer = self._tracer

        def evaluate(frame: Frame, dot: Any) -> Any:
            tracer.taint = CLEAN
            value = None if run is None else run(frame, dot)
            tracer.argument = tracer.taint
            return value

        return evaluate

    def on_template(self, run: Run) -> Run:
        tracer = self._tracer

        def run_template(frame: Frame, dot: Any) -> None:
            outside, tracer.dot = tracer.dot, tracer.argument
            tracer.set_variable(frame, 0, tracer.argument)
            try:
                run(frame, dot)
            finally:
                tracer.dot = outside

        return run_template


def _bodies(branch: Branch) -> list[Body]:
    """All bodies of a branch; those of `else if` count as its own."""
    bodies = [branch.body]
    rest = branch.otherwise
    while rest is not None:
        only = rest[0] if len(rest) == 1 else None
        if not (isinstance(only, Branch) and only.kind == branch.kind != "range"):
            bodies.append(rest)
            break
        bodies.append(only.body)
        rest = only.otherwise
    return bodies


def _note_choice(output: TracedOutput, start: int, taint: Taint, other: list[UntakenText]) -> None:
    untaken = tuple(text for text in other if not text.is_empty)
    if untaken or output.length > start:
        output.choices.append(Choice(start, output.length, taint, untaken))


def _note_changes(tracer: Tracer, changes: Assignments, frame: Frame, dot: Any, taint: Taint) -> None:
    """Variables and maps depend on whether a body runs that would change them."""
    for slot in changes.slots:
        tracer.set_variable(frame, slot, tracer.variable(frame, slot) | taint)
    for variable, names in changes.maps:
        start, reference = dot, tracer.dot
        if variable is not None:
            start, reference = frame.variables[variable], tracer.variable(frame, variable)
        value, _ = tracer.shadows.field(start, names, reference)
        tracer.shadows.change(value, taint)
