"""Counters, histograms and gauges: the few kinds of figures that we keep.

Whoever counts often asks for its series once and keeps it: then counting is one addition. Everything is
counted in the event loop's thread, so nothing is locked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from crossply.record.text import Family, Histogram, family_text, histogram_text

MOST_SERIES = 5_000
"""Of one family. Labels are names that users choose: beyond that many, the rest is counted together."""
OTHER = "other"


class Shown(Protocol):
    """Something that is on the page."""

    name: str
    type: str
    meaning: str
    labels: tuple[str, ...]

    def text(self) -> str:
        """Its lines in Prometheus' text format."""
        ...


class Count:
    """One series of a counter: add to its value."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


class Counter:
    """How often something happened, by labels."""

    type = "counter"

    def __init__(self, name: str, meaning: str, *labels: str) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = labels
        self._series: dict[tuple[str, ...], Count] = {}

    def of(self, *values: str) -> Count:
        """The series of these values of the labels."""
        found = self._series.get(values)
        if found is None:
            values = _bounded(self._series, values)
            found = self._series.setdefault(values, Count())
        return found

    def text(self) -> str:
        """Its lines in Prometheus' text format."""
        samples = [(_named(self.labels, values), each.value) for values, each in self._series.items()]
        return family_text(Family(self.name, self.type, self.meaning, samples))


class Times:
    """One series of a histogram."""

    __slots__ = ("bounds", "buckets", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.buckets = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.buckets[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds


class Durations:
    """How long something took, by labels."""

    type = "histogram"

    def __init__(self, name: str, meaning: str, *labels: str, bounds: tuple[float, ...]) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = labels
        self._bounds = bounds
        self._series: dict[tuple[str, ...], Times] = {}

    def of(self, *values: str) -> Times:
        """The series of these values of the labels."""
        found = self._series.get(values)
        if found is None:
            values = _bounded(self._series, values)
            found = self._series.setdefault(values, Times(self._bounds))
        return found

    def text(self) -> str:
        """Its lines in Prometheus' text format."""
        histograms = [
            Histogram(_named(self.labels, values), each.bounds, each.buckets, each.total)
            for values, each in self._series.items()
        ]
        return histogram_text(self.name, self.meaning, histograms)


Reading = Iterable[tuple[tuple[str, ...], float]]


class Gauge:
    """How much there is of something, looked up when the page is shown."""

    type = "gauge"

    def __init__(self, name: str, meaning: str, *labels: str, read: Callable[[], Reading]) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = labels
        self._read = read

    def text(self) -> str:
        """Its lines in Prometheus' text format."""
        samples = [(_named(self.labels, values), value) for values, value in self._read()]
        return family_text(Family(self.name, self.type, self.meaning, samples))


def _named(labels: tuple[str, ...], values: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(labels, values, strict=True))


def _bounded(series: Mapping[tuple[str, ...], object], values: tuple[str, ...]) -> tuple[str, ...]:
    return values if len(series) < MOST_SERIES else (OTHER,) * len(values)
