"""The text of a traced render: which piece came from which line, and what it depends on."""

from __future__ import annotations

from typing import NamedTuple

from crossply.functions.builtin.go_templating.engine.taints import CLEAN, Taint
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
