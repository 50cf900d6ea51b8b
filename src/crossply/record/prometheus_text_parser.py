"""Reads a page in Prometheus' text format, as far as /metrics of our processes uses it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Labels = tuple[tuple[str, str], ...]
Samples = dict[tuple[str, Labels], float]
"""Values by the name of the series and its labels, sorted."""

FUNCTION = "function_name"
FUNCTION_CALLS = "function_run_function_response_total"
FUNCTION_SECONDS = "function_run_function_seconds_bucket"
CACHE_HITS = "function_run_function_response_cache_hits_total"
_ESCAPES = {"n": "\n", "\\": "\\", '"': '"'}


def parse(text: str) -> Samples:
    """The samples of a page; lines that cannot be read are left out."""
    samples: Samples = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, labels, rest = _split(line)
        try:
            samples[name, labels] = float(rest.split()[0])
        except (ValueError, IndexError):
            continue
    return samples


def _split(line: str) -> tuple[str, Labels, str]:
    brace = line.find("{")
    if brace < 0:
        name, _, rest = line.partition(" ")
        return name, (), rest
    labels, at = [], brace + 1
    while at < len(line) and line[at] != "}":
        equals = line.find('="', at)
        if equals < 0:
            return line[:brace], (), ""
        value, end = _quoted(line, equals + 2)
        labels.append((line[at:equals].lstrip(","), value))
        at = end + 1
    return line[:brace], tuple(sorted(labels)), line[at + 1 :]


def _quoted(line: str, at: int) -> tuple[str, int]:
    """A label's value, and where its closing quote is."""
    chars = []
    while at < len(line) and line[at] != '"':
        if line[at] == "\\" and at + 1 < len(line):
            at += 1
            chars.append(_ESCAPES.get(line[at], line[at]))
        else:
            chars.append(line[at])
        at += 1
    return "".join(chars), at


def added(pages: Iterable[Samples]) -> Samples:
    """The samples of all replicas together."""
    total: Samples = {}
    for page in pages:
        for key, value in page.items():
            total[key] = total.get(key, 0.0) + value
    return total


def sum_by(
    samples: Samples, name: str, label: str = "", where: Mapping[str, str] | None = None
) -> dict[str, float]:
    """The sums of a series by the value of one label; of all under "" without a label."""
    sums: dict[str, float] = {}
    for (series, labels), value in samples.items():
        if series != name:
            continue
        values = dict(labels)
        if where and any(values.get(key) != expected for key, expected in where.items()):
            continue
        key = values.get(label, "") if label else ""
        sums[key] = sums.get(key, 0.0) + value
    return sums


def failed_calls(samples: Samples, function: str) -> int:
    """How many calls of a function were not answered, or answered with a fatal result."""
    failed = 0.0
    for (name, labels), value in samples.items():
        values = dict(labels)
        if name == FUNCTION_CALLS and values.get(FUNCTION) == function:
            is_good = values.get("grpc_code") == "OK" and values.get("result_severity") != "Fatal"
            failed += 0.0 if is_good else value
    return int(failed)


def quantile(buckets: dict[float, float], share: float) -> float | None:
    """A quantile of a cumulative histogram, interpolated in its bucket as Prometheus does.

    None where nothing was counted.
    """
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
