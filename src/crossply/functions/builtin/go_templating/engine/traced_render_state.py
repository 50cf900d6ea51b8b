"""One traced render: what each value depends on, while the wrappers of `tracing_compile_scope` run.

Of its text is known which piece came from which line, and what it depends on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from crossply.functions.builtin.go_templating.engine.render_state import Frame, Render, Template
from crossply.functions.builtin.go_templating.engine.taints import CLEAN, Shadows, Taint
from crossply.functions.builtin.go_templating.engine.untaken_text import UntakenText


class Span(NamedTuple):
    """A piece of output. One without length was printed, too: an empty value."""

    start: int
    end: int
    at: int
    """Where the text or the action stands in the template."""
    is_text: bool
    value: Taint
    control: Taint


class Choice(NamedTuple):
    """Where a branch was taken, and what the other branches would have printed instead."""

    start: int
    end: int
    taint: Taint
    untaken: tuple[UntakenText, ...]


class TracedOutput:
    """What one template prints, with the templates that it calls."""

    __slots__ = ("_parts", "choices", "length", "spans")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self.spans: list[Span] = []
        self.choices: list[Choice] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def write(self, text: str, at: int, is_text: bool, value: Taint, control: Taint) -> None:
        self.spans.append(Span(self.length, self.length + len(text), at, is_text, value, control))
        self._parts.append(text)
        self.length += len(text)

    def taint(self) -> Taint:
        """What the text as a whole depends on."""
        taints = [span.value | span.control for span in self.spans]
        return CLEAN.union(*taints, *(choice.taint for choice in self.choices))


class OpenBranch:
    """A branch that is being rendered."""

    __slots__ = ("conditions", "dot", "ranged", "ranged_taint", "rendered")

    def __init__(self) -> None:
        self.conditions = CLEAN
        self.dot = CLEAN
        self.rendered: set[int] = set()
        self.ranged: Any = None
        self.ranged_taint = CLEAN


class Tracer:
    """The state of one traced render."""

    __slots__ = (
        "argument",
        "branches",
        "control",
        "dot",
        "included",
        "loops",
        "outputs",
        "printing",
        "shadows",
        "stack",
        "taint",
        "variables",
    )

    def __init__(self, data: Any) -> None:
        self.shadows = Shadows(data)
        self.taint = CLEAN
        """Of the value that was evaluated last."""
        self.dot = CLEAN
        self.argument = CLEAN
        """Of the dot of the template that is called next."""
        self.control = CLEAN
        """What decides that this statement runs."""
        self.loops: list[Taint] = []
        """What decides whether the open ranges go on: conditions of `break` and `continue`."""
        self.stack: list[tuple[Any, Taint]] = []
        """Evaluated arguments."""
        self.variables: dict[tuple[int, int], Taint] = {}
        self.branches: list[OpenBranch] = []
        self.outputs: list[TracedOutput] = []
        self.included = CLEAN
        self.printing: tuple[int, bool, Taint] = (0, True, CLEAN)

    def controlled(self) -> Taint:
        return self.control.union(*self.loops)

    def write(self, text: str) -> None:
        at, is_text, taint = self.printing
        self.outputs[-1].write(text, at, is_text, taint, self.controlled())

    def set_variable(self, frame: Frame, slot: int, taint: Taint) -> None:
        self.variables[id(frame.variables), slot] = taint

    def variable(self, frame: Frame, slot: int) -> Taint:
        return self.variables.get((id(frame.variables), slot), CLEAN)

    @contextmanager
    def under(self, taint: Taint) -> Iterator[None]:
        outside, self.control = self.control, self.control | taint
        try:
            yield
        finally:
            self.control = outside


class TracingRender(Render):
    """A render whose output is traced."""

    __slots__ = ("_tracer",)

    def __init__(self, tracer: Tracer, *args: Any) -> None:
        super().__init__(*args)
        self._tracer = tracer

    def _text(self, template: Template, data: Any) -> str:
        output = TracedOutput()
        self._tracer.outputs.append(output)
        try:
            self.run(template, self._tracer.write, data)
        finally:
            if len(self._tracer.outputs) > 1:
                self._tracer.outputs.pop()
        self._tracer.included = output.taint()
        return output.text
