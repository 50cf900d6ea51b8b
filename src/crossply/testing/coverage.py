"""Coverage of a Composition: the steps and resources that no case reached.

Which resources a step may compose is known where its input lists templates by name, as that of
patch-and-transform does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.compose.function_messages import Request, Response
from crossply.compose.in_memory_cluster import CallFunction
from crossply.kinds.composition import Composition, Step
from crossply.testing.suite import Path
from crossply.values.yaml import Document

STEP, RESOURCE = "step", "resource"


class Part(NamedTuple):
    """A step or a resource of a Composition."""

    kind: str
    name: str


class Coverage(NamedTuple):
    """What was reached of a Composition, and where that is written which was not."""

    composition: str
    file: str
    reached: frozenset[Part]
    missed: dict[Part, int]
    """The line of each part that was not reached."""

    def joined(self, other: Coverage) -> Coverage:
        """What two suites of the same Composition reached together."""
        reached = self.reached | other.reached
        missed = {part: line for part, line in self.missed.items() if part not in reached}
        return self._replace(reached=reached, missed=missed)

    @property
    def percent(self) -> float:
        """How much was reached of all there is."""
        return 100.0 * len(self.reached) / ((len(self.reached) + len(self.missed)) or 1)


class Tracker:
    """Notes what is reached while cases run."""

    __slots__ = ("_reached",)

    def __init__(self) -> None:
        self._reached: set[Part] = set()

    def tracked(self, call: CallFunction) -> CallFunction:
        """The same calls, recorded."""

        def noted(step: Step, request: Request) -> Response:
            self._reached.add(Part(STEP, step.name))
            return call(step, request)

        return noted

    def note_composed(self, names: Iterable[str]) -> None:
        """Note resources that were composed."""
        self._reached.update(Part(RESOURCE, name) for name in names)

    def coverage(self, composition: Composition, document: Document) -> Coverage:
        """What was reached of a Composition, which was written in the document."""
        parts = dict(_parts(composition, document.value))
        # The line is searched only where it is reported: each time, the whole text is parsed.
        missed = {
            part: document.locate(path) or document.line
            for part, path in parts.items()
            if part not in self._reached
        }
        return Coverage(composition.name, document.source, frozenset(parts.keys() - missed.keys()), missed)


def _parts(composition: Composition, written: Any) -> Iterable[tuple[Part, Path]]:
    """The parts of a Composition and where they are; those of older spellings are all in the spec."""
    pipeline = (written.get("spec") or {}).get("pipeline")
    for index, step in enumerate(composition.steps):
        path: Path = ("spec", "pipeline", index) if pipeline else ("spec",)
        yield Part(STEP, step.name), path
        listed: Any = (step.input or {}).get("resources")
        for number, template in enumerate(listed if isinstance(listed, list) else ()):
            name = template.get("name") if isinstance(template, dict) else None
            if isinstance(name, str):
                inside: Path = (*path, "input") if pipeline else path
                yield Part(RESOURCE, name), (*inside, "resources", number)


def by_composition(coverages: Iterable[Coverage]) -> list[Coverage]:
    """The coverage of each Composition by all suites together."""
    joined: dict[tuple[str, str], Coverage] = {}
    for coverage in coverages:
        key = (coverage.file, coverage.composition)
        joined[key] = joined[key].joined(coverage) if key in joined else coverage
    return list(joined.values())
