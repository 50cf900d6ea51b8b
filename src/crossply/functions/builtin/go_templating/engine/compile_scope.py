"""The scope of a template during compilation: its functions, and the slots of its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from crossply.functions.builtin.go_templating.engine.errors import ErrorSite, Site
from crossply.functions.builtin.go_templating.engine.nodes import (
    Action,
    Body,
    Branch,
    Expression,
    Operand,
    Text,
    Tree,
)
from crossply.functions.builtin.go_templating.engine.render_state import Evaluate, Frame, Run
from crossply.functions.builtin.go_templating.engine.signatures import Function

_FRAMES_PER_LEVEL = 4
_FRAMES_PER_TEMPLATE = 8


class Compiled(NamedTuple):
    """A compiled expression.

    `last` is the part that Go evaluates last: errors about the result have its location. A boxed result is
    one that Go holds in an interface: None is then nil, otherwise no value.
    """

    run: Evaluate
    last: ErrorSite
    boxed: bool = False


Invoke = Callable[[Frame, tuple[Any, ...]], Any]
"""Calls a function with checked arguments."""

SetVariables = Callable[[Frame, Any, Any], None]
"""Assigns the index and the item of a range to its variables."""


class Hooks:
    """What is done with each compiled piece: nothing.

    `tracing_compile_scope` wraps the pieces to trace where output comes from. Nothing of it is left in
    templates that are compiled without.
    """

    __slots__ = ()

    def on_text(self, text: Text) -> str | Run:
        return text.text

    def on_print(self, action: Action, run: Evaluate) -> Evaluate:
        return run

    def on_read(self, node: Operand, run: Evaluate) -> Evaluate:
        return run

    def on_chain(self, run: Evaluate) -> Evaluate:
        return run

    def on_call(
        self, name: str, evaluate: tuple[Evaluate, ...], invoke: Invoke, piped: bool
    ) -> tuple[tuple[Evaluate, ...], Invoke]:
        return evaluate, invoke

    def on_stage(self, stage: Any) -> Any:
        return stage

    def on_short_circuit(self, run: Any) -> Any:
        return run

    def on_method(self, stage: Any) -> Any:
        return stage

    def on_store(self, places: tuple[int | None, ...], run: Evaluate) -> Evaluate:
        return run

    def on_condition(self, run: Evaluate) -> Evaluate:
        return run

    def on_body(self, body: Body, run: Run, *, changes_dot: bool) -> Run:
        return run

    def on_branch(self, branch: Branch, run: Run) -> Run:
        return run

    def on_range(self, run: Evaluate) -> Evaluate:
        return run

    def on_item(self, places: list[int], set_variables: SetVariables) -> SetVariables:
        return set_variables

    def on_argument(self, run: Evaluate | None) -> Evaluate | None:
        return run

    def on_template(self, run: Run) -> Run:
        return run


class Scope(Hooks):
    """Compiles one template."""

    __slots__ = (
        "_boxed",
        "_deepest",
        "_depth",
        "_places",
        "_slots",
        "_tree",
        "_variables",
        "dot_is_boxed",
        "functions",
    )

    def __init__(self, tree: Tree, functions: Mapping[str, Function]) -> None:
        self._tree = tree
        self.functions = functions
        self._variables = ["$"]
        self._places: dict[str, list[int]] = {"$": [0]}
        self._slots = 0
        self._boxed: set[int] = set()
        self._depth = self._deepest = 0
        self.dot_is_boxed = False

    @property
    def slots(self) -> int:
        """How many variables the template declares."""
        return self._slots

    @property
    def height(self) -> int:
        """About how many Python frames the template nests when it runs."""
        return _FRAMES_PER_TEMPLATE + _FRAMES_PER_LEVEL * self._deepest

    def at(self, node: Expression) -> Site:
        """The location of a node of this template."""
        return Site(self._tree, node)

    def declare(self, name: str) -> int:
        """Declare a variable, which hides an earlier one of the same name, and return its slot."""
        self._slots += 1
        self._variables.append(name)
        self._places.setdefault(name, []).append(self._slots)
        return self._slots

    def slot(self, name: str) -> int | None:
        """The slot of a variable; None for one that is not declared."""
        places = self._places.get(name)
        return places[-1] if places else None

    def box(self, slots: Iterable[int]) -> None:
        """Mark variables that hold items of a range."""
        self._boxed.update(slots)

    def is_boxed(self, slot: int) -> bool:
        """Whether a variable holds an item of a range."""
        return slot in self._boxed

    @contextmanager
    def block(self) -> Iterator[None]:
        """Variables declared inside are removed at the end."""
        known = len(self._variables)
        with self.nested():
            yield
        for name in self._variables[known:]:
            self._places[name].pop()
        del self._variables[known:]

    @contextmanager
    def boxed_dot(self, is_boxed: bool) -> Iterator[None]:
        """Set whether the dot is boxed inside."""
        outside = self.dot_is_boxed
        self.dot_is_boxed = is_boxed
        yield
        self.dot_is_boxed = outside

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Count nesting, to estimate how many Python frames the template takes."""
        self._depth += 1
        self._deepest = max(self._deepest, self._depth)
        yield
        self._depth -= 1
