"""Figures of functions and workqueues from a control plane's metrics. Pure."""

from __future__ import annotations

from typing import NamedTuple

from crossply.record.metrics_page import (
    CACHE_HITS,
    FUNCTION,
    FUNCTION_CALLS,
    FUNCTION_SECONDS,
    Samples,
    failed_calls,
    quantile,
    sum_by,
)


class FunctionFigures(NamedTuple):
    name: str
    calls: int
    errors: int
    p50: float
    """Seconds; 0 where nothing was called."""
    p99: float
    hits: int
    """Calls that the response cache answered."""


class Figures(NamedTuple):
    functions: list[FunctionFigures]
    queue: int
    """How many objects wait to be worked on."""


def read_figures(samples: Samples) -> Figures:
    """The figures of all replicas."""
    calls, hits = (sum_by(samples, name, FUNCTION) for name in (FUNCTION_CALLS, CACHE_HITS))
    functions = [
        _figures_of(name, calls.get(name, 0.0), hits.get(name, 0.0), samples)
        for name in sorted(calls.keys() | hits.keys())
        if name
    ]
    return Figures(functions, int(sum(sum_by(samples, "workqueue_depth").values())))


def _figures_of(name: str, calls: float, hits: float, samples: Samples) -> FunctionFigures:
    counts = sum_by(samples, FUNCTION_SECONDS, "le", {FUNCTION: name})
    buckets = {float(bound): count for bound, count in counts.items()}
    return FunctionFigures(
        name,
        int(calls),
        failed_calls(samples, name),
        quantile(buckets, 0.5) or 0.0,
        quantile(buckets, 0.99) or 0.0,
        int(hits),
    )
