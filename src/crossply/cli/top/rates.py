"""Figures of a control plane from two readings of its metrics: rates, latencies, errors. Pure."""

from __future__ import annotations

from typing import NamedTuple

from crossply.cli.top.metrics_text import Samples, sum_by

_RECONCILES, _RECONCILE_ERRORS = (
    "controller_runtime_reconcile_total",
    "controller_runtime_reconcile_errors_total",
)
_ACTIVE, _DEPTH = "controller_runtime_active_workers", "workqueue_depth"
_CALLS, _SECONDS = "function_run_function_response_total", "function_run_function_seconds_bucket"
_HITS = "function_run_function_response_cache_hits_total"
_MISSES = "function_run_function_response_cache_misses_total"
_FUNCTION = "function_name"
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
        _functions(before, after, rate(_CALLS, _FUNCTION)),
    )


def _total(samples: Samples, name: str) -> int:
    return int(sum(sum_by(samples, name).values()))


def _functions(before: Reading, after: Reading, rates: dict[str, float]) -> tuple[FunctionFigures, ...]:
    calls = sum_by(after.samples, _CALLS, _FUNCTION)
    hits, misses = (sum_by(after.samples, name, _FUNCTION) for name in (_HITS, _MISSES))
    rows = []
    for name in sorted({*calls, *hits}):
        lookups = hits.get(name, 0.0) + misses.get(name, 0.0)
        buckets = _recent_buckets(before, after, name)
        rows.append(
            FunctionFigures(
                name,
                rates.get(name, 0.0),
                int(calls.get(name, 0.0)),
                _failed_calls(after.samples, name),
                quantile(buckets, 0.5),
                quantile(buckets, 0.99),
                hits.get(name, 0.0) / lookups if lookups else None,
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.calls_per_second, -row.calls)))


def _failed_calls(samples: Samples, function: str) -> int:
    failed = 0.0
    for (name, labels), value in samples.items():
        values = dict(labels)
        if name == _CALLS and values.get(_FUNCTION) == function:
            is_good = values.get("grpc_code") == "OK" and values.get("result_severity") != "Fatal"
            failed += 0.0 if is_good else value
    return int(failed)


def _recent_buckets(before: Reading, after: Reading, function: str) -> dict[float, float]:
    """The buckets of the calls in between; of all calls if there were none in between."""
    where = {_FUNCTION: function}
    now = sum_by(after.samples, _SECONDS, "le", where)
    earlier = sum_by(before.samples, _SECONDS, "le", where)
    recent = {bound: value - earlier.get(bound, 0.0) for bound, value in now.items()}
    chosen = recent if recent.get("+Inf", 0.0) > 0 else now
    return {float(bound): value for bound, value in chosen.items()}


def quantile(buckets: dict[float, float], share: float) -> float | None:
    """A quantile of a cumulative histogram, interpolated within its bucket as Prometheus does."""
    bounds = sorted(buckets)
    total = buckets[bounds[-1]] if bounds else 0.0
    if total <= 0:
        return None
    rank, low, below = share * total, 0.0, 0.0
    for bound in bounds:
        count = buckets[bound]
        if count >= rank:
            if bound == float("inf"):
                return low
            part = (rank - below) / (count - below) if count > below else 1.0
            return low + (bound - low) * part
        low, below = bound, count
    return low
