"""Figures of functions and workqueues from a control plane's metrics page. Pure."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

_LINE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
_CALLS = "function_run_function_response_total"
_SECONDS = "function_run_function_seconds_bucket"
_HITS = "function_run_function_response_cache_hits_total"


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


def read_figures(text: str) -> Figures:
    """The figures of a page in the text format of Prometheus; lines that are something else are left out."""
    calls: dict[str, int] = defaultdict(int)
    errors: dict[str, int] = defaultdict(int)
    hits: dict[str, int] = defaultdict(int)
    buckets: dict[str, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    queue = 0.0
    for name, labels, value in _samples(text):
        function = labels.get("function_name", "")
        if name == _CALLS:
            calls[function] += int(value)
            failed = labels.get("grpc_code") != "OK" or labels.get("result_severity", "").lower() == "fatal"
            errors[function] += int(value) if failed else 0
        elif name == _SECONDS:
            buckets[function][float(labels.get("le", "inf"))] += value
        elif name == _HITS:
            hits[function] += int(value)
        elif name == "workqueue_depth":
            queue += value
    functions = [
        FunctionFigures(
            name,
            calls[name],
            errors[name],
            quantile(buckets[name], 0.5),
            quantile(buckets[name], 0.99),
            hits[name],
        )
        for name in sorted(calls.keys() | hits.keys())
        if name
    ]
    return Figures(functions, int(queue))


def quantile(buckets: dict[float, float], share: float) -> float:
    """The quantile of a cumulative histogram, interpolated in its bucket as Prometheus does."""
    bounds = sorted(buckets)
    if not bounds or not buckets[bounds[-1]]:
        return 0.0
    rank, lower, before = share * buckets[bounds[-1]], 0.0, 0.0
    for bound in bounds:
        if buckets[bound] >= rank:
            if math.isinf(bound) or buckets[bound] == before:
                return lower
            return lower + (bound - lower) * (rank - before) / (buckets[bound] - before)
        lower, before = bound, buckets[bound]
    return lower


def _samples(text: str) -> Iterator[tuple[str, dict[str, str], float]]:
    for line in text.splitlines():
        match = None if line.startswith("#") else _LINE.match(line)
        if match is None:
            continue
        try:
            yield match[1], dict(_LABEL.findall(match[2] or "")), float(match[3])
        except ValueError:
            continue
