"""Figures of a control plane from two readings of its metrics: rates, latencies, errors. Pure."""

from __future__ import annotations

from typing import NamedTuple

from crossply.record.prometheus_text_parser import (
    CACHE_HITS,
    FUNCTION,
    FUNCTION_CALLS,
    FUNCTION_SECONDS,
    Samples,
    failed_calls,
    quantile,
    sum_by,
)

_RECONCILES, _RECONCILE_ERRORS = (
    "controller_runtime_reconcile_total",
    "controller_runtime_reconcile_errors_total",
)
_ACTIVE, _DEPTH = "controller_runtime_active_workers", "workqueue_depth"
_MISSES = "function_run_function_response_cache_misses_total"
_COMPOSITE = "composite/"


class Reading(NamedTuple):
    """The metrics of all replicas at one time, in seconds of a monotonic clock."""

    time: float
    samples: Samples
    replicas: int


class FunctionFigures(NamedTuple):
    """One function: rates of the last interval, totals since the control plane started."""

    name: str
    calls_per_second: float
    calls: int
    errors: int
    p50: float | None
    """Seconds; None if it was never called."""
    p99: float | None
    cache_hits: float | None
    """The share of calls that the response cache answered; None if it was never asked."""


class Figures(NamedTuple):
    """All of a control plane."""

    replicas: int
    reconciles_per_second: float
    reconciles: int
    errors_per_second: float
    errors: int
    active: int
    depth: int
    by_definition: dict[str, float]
    """Reconciles a second of XRs, by the name of their definition."""
    functions: tuple[FunctionFigures, ...]


def figures(before: Reading, after: Reading) -> Figures:
    """What happened between two readings, and in all."""
    seconds = max(after.time - before.time, 1e-6)

    def rate(name: str, label: str = "") -> dict[str, float]:
        earlier = sum_by(before.samples, name, label)
        # A counter that went back belongs to a process that was restarted.
        return {
            key: max(value - earlier.get(key, 0.0), 0.0) / seconds
            for key, value in sum_by(after.samples, name, label).items()
        }

    by_controller = rate(_RECONCILES, "controller")
    return Figures(
        after.replicas,
        sum(by_controller.values()),
        _total(after.samples, _RECONCILES),
        sum(rate(_RECONCILE_ERRORS).values()),
        _total(after.samples, _RECONCILE_ERRORS),
        _total(after.samples, _ACTIVE),
        _total(after.samples, _DEPTH),
        {
            controller.removeprefix(_COMPOSITE): value
            for controller, value in by_controller.items()
            if controller.startswith(_COMPOSITE)
        },
        _functions(before, after, rate(FUNCTION_CALLS, FUNCTION)),
    )


def _total(samples: Samples, name: str) -> int:
    return int(sum(sum_by(samples, name).values()))


def _functions(before: Reading, after: Reading, rates: dict[str, float]) -> tuple[FunctionFigures, ...]:
    calls = sum_by(after.samples, FUNCTION_CALLS, FUNCTION)
    hits, misses = (sum_by(after.samples, name, FUNCTION) for name in (CACHE_HITS, _MISSES))
    rows = []
    for name in sorted({*calls, *hits}):
        lookups = hits.get(name, 0.0) + misses.get(name, 0.0)
        buckets = _recent_buckets(before, after, name)
        rows.append(
            FunctionFigures(
                name,
                rates.get(name, 0.0),
                int(calls.get(name, 0.0)),
                failed_calls(after.samples, name),
                quantile(buckets, 0.5),
                quantile(buckets, 0.99),
                hits.get(name, 0.0) / lookups if lookups else None,
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.calls_per_second, -row.calls)))


def _recent_buckets(before: Reading, after: Reading, function: str) -> dict[float, float]:
    """The buckets of the calls in between; of all calls if there were none in between."""
    where = {FUNCTION: function}
    now = sum_by(after.samples, FUNCTION_SECONDS, "le", where)
    earlier = sum_by(before.samples, FUNCTION_SECONDS, "le", where)
    recent = {bound: value - earlier.get(bound, 0.0) for bound, value in now.items()}
    chosen = recent if recent.get("+Inf", 0.0) > 0 else now
    return {float(bound): value for bound, value in chosen.items()}
