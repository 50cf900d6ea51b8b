"""Prometheus' text format: families of samples, each with what it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

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
    told = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items())
    return f"{{{told}}}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
