"""Who calls which functions: when another revision is called from now on, they are woken.

A change of a revision that does not change how anybody's step is called wakes nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from crossply.control.calls.choosing import Choices, Wanted
from crossply.control.calls.ways import Way
from crossply.functions.failures import FunctionNotBound
from crossply.kinds.composition import NATIVE_FUNCTION, Step

Wake = Callable[[], None]


class Callers:
    """Who calls what, and how it was called last."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._steps: dict[Hashable, tuple[Step, ...]] = {}
        self._wants: dict[Hashable, frozenset[Wanted]] = {}
        self._callers: dict[str, dict[Wanted, dict[Hashable, Wake]]] = {}
        """By function, by what is wanted of it."""
        self._ways: dict[Wanted, Way | None] = {}

    def follow(self, who: Hashable, steps: tuple[Step, ...], wake: Wake) -> None:
        """From now on, wake `who` when one of these steps is called otherwise."""
        if self._steps.get(who) is steps:
            return
        wants = frozenset(self._choices.wanted(step) for step in steps if step.function != NATIVE_FUNCTION)
        before = self._wants.get(who, frozenset())
        self._leave(who, before - wants)
        for wanted in wants:
            self._callers.setdefault(wanted.function, {}).setdefault(wanted, {})[who] = wake
            self._ways.setdefault(wanted, self._way(wanted))
        self._steps[who], self._wants[who] = steps, wants

    def forget(self, who: Hashable) -> None:
        """It calls nothing any more."""
        self._steps.pop(who, None)
        self._leave(who, self._wants.pop(who, frozenset()))

    def changed(self, function: str) -> None:
        """Look again how a function is called, and wake those for whom that is not what it was."""
        for wanted, callers in self._callers.get(function, {}).items():
            way = self._way(wanted)
            if way != self._ways[wanted]:
                self._ways[wanted] = way
                for wake in list(callers.values()):
                    wake()

    def wake(self, function: str) -> None:
        """Wake all that call a function."""
        for callers in self._callers.get(function, {}).values():
            for wake in list(callers.values()):
                wake()

    def _way(self, wanted: Wanted) -> Way | None:
        try:
            return self._choices.choose(wanted)
        except FunctionNotBound:
            return None

    def _leave(self, who: Hashable, wants: Iterable[Wanted]) -> None:
        for wanted in wants:
            of_function = self._callers[wanted.function]
            del of_function[wanted][who]
            if not of_function[wanted]:
                del of_function[wanted], self._ways[wanted]
            if not of_function:
                del self._callers[wanted.function]
