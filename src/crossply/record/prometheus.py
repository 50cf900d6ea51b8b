"""Counters, histograms and gauges, and Prometheus' text format.

Code that counts often gets its series once with `of` and holds on to it: then counting is one addition.
Everything is counted in the event loop's thread, so nothing is locked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

Sample = tuple[Mapping[str, str], float]


class Family(NamedTuple):
    """Samples of one name."""

    name: str
    kind: str
    help: str
    samples: Iterable[Sample]


class Histogram(NamedTuple):
    """How often a value was within each bound, for one set of labels."""

    labels: Mapping[str, str]
    bounds: tuple[float, ...]
    buckets: list[int]
    """How many fell into each bucket alone; one more than bounds."""
    total: float


def family_text(family: Family) -> str:
    """One family as text."""
    lines = [f"# HELP {family.name} {family.help}", f"# TYPE {family.name} {family.kind}"]
    lines += [f"{family.name}{_labels(labels)} {_number(value)}" for labels, value in family.samples]
    return "\n".join(lines) + "\n"


def histogram_text(name: str, meaning: str, histograms: Iterable[Histogram]) -> str:
    """A family of histograms as text."""
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name} histogram"]
    for labels, bounds, buckets, total in histograms:
        count = 0
        for bound, within in zip((*bounds, None), buckets, strict=True):
            count += within
            edge = "+Inf" if bound is None else f"{bound:g}"
            lines.append(f"{name}_bucket{_labels({**labels, 'le': edge})} {count}")
        lines.append(f"{name}_sum{_labels(labels)} {_number(total)}")
        lines.append(f"{name}_count{_labels(labels)} {count}")
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items())
    return f"{{{pairs}}}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


MAX_SERIES = 5_000
"""Of one family. Labels are names that users choose: beyond that many, the rest is counted together."""
OTHER = "other"


class MetricFamily(Protocol):
    """Something that is on the page."""

    name: str
    type: str
    meaning: str
    labels: tuple[str, ...]

    def text(self) -> str:
        """Its lines in Prometheus' text format."""
        ...


class Series:
    """One series of a counter: add to its value."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0


class Counter:
    """How often something happened, by labels."""

    type = "counter"

    def __init__(self, name: str, meaning: str, *labels: str) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = labels
        self._series: dict[tuple[str, ...], Series] = {}

    def of(self, *values: str) -> Series:
        """The series of these values of the labels."""
        series = self._series.get(values)
        if series is None:
            values = _bounded(self._series, values)
            series = self._series.setdefault(values, Series())
        return series

    def text(self) -> str:
        """Its lines in Prometheus' text format."""
        samples = [(_named(self.labels, values), series.value) for values, series in self._series.items()]
        return family_text(Family(self.name, self.type, self.meaning, samples))


class HistogramSeries:
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


class DurationHistogram:
    """How long something took, by labels."""

    type = "histogram"

    def __init__(self, name: str, meaning: str, *labels: str, bounds: tuple[float, ...]) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = labels
        self._bounds = bounds
        self._series: dict[tuple[str, ...], HistogramSeries] = {}

    def of(self, *values: str) -> HistogramSeries:
        """The series of these values of the labels."""
        series = self._series.get(values)
        if series is None:
            values = _bounded(self._series, values)
            series = self._series.setdefault(values, HistogramSeries(self._bounds))
        return series

    def text(self) -> str:
        """Its lines in Prometheus' text format."""
        histograms = [
            Histogram(_named(self.labels, values), series.bounds, series.buckets, series.total)
            for values, series in self._series.items()
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
    return values if len(series) < MAX_SERIES else (OTHER,) * len(values)
