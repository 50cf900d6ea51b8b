"""What `try_out` found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crossply.compose.events import Event
from crossply.values import Object


@dataclass(repr=False)
class Report:
    """How a kind behaved. `check` raises what is wrong with it."""

    kind: str
    problems: list[str] = field(default_factory=list)
    """What is wrong: failures, leaks, things created twice, writes at rest."""
    blocked: list[str] = field(default_factory=list)
    """Crashes after which a person must find out what exists, as the external name is not deterministic."""
    runs: int = 0
    """Runs with a crash."""
    status: Object = field(default_factory=dict)
    """The status of the resource when it was settled, in the run without a crash."""
    connection: dict[str, bytes] = field(default_factory=dict)
    """Its connection details."""
    spec: Object = field(default_factory=dict)
    """Its spec, with late-initialised fields."""
    events: list[Event] = field(default_factory=list)
    """The events of the run without a crash."""
    names: list[str] = field(default_factory=list)
    """What existed outside when it was settled, as far as `existing` says."""
    points: list[str] = field(default_factory=list)
    """The points of the run without a crash, at each of which another run crashed."""

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return not self.problems

    def check(self) -> None:
        """Raise an AssertionError that lists all problems, if there are some."""
        __tracebackhide__ = True
        if self.problems:
            raise AssertionError(repr(self))

    def __repr__(self) -> str:
        summary = f"{self.kind}: {len(self.problems)} problems in {self.runs} runs with a crash"
        lines = [f"- {problem}" for problem in self.problems]
        lines += [f"- needs a person: {blocked}" for blocked in self.blocked]
        return "\n".join([summary, *lines])


@dataclass
class Expected:
    """What the run without a crash ended with in each phase, which the others must end with, too."""

    counts: list[int] = field(default_factory=list)

    def check(self, phase: int, names: list[Any]) -> str:
        """The problem with what exists after a phase; empty where there is none."""
        expected = self.counts[phase]
        if len(names) > expected:
            return f"{len(names)} things exist instead of {expected}: {', '.join(map(str, names))}"
        return f"{len(names)} things exist instead of {expected}" if len(names) < expected else ""
