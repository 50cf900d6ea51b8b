"""The figures of `crossply top` as text and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.layout import columns
from crossply.cli.framework.styling import Style
from crossply.cli.top.rates import Figures, FunctionFigures
from crossply.values import Object

STATES = ("ready", "waiting", "failing", "deleting", "paused", "present")
_TITLES = ("✓ READY", "○ NOT READY", "✗ FAILING", "DELETING", "PAUSED", "NO STATUS")


class KindStates(NamedTuple):
    """The XRs of one kind by state; `definition` is the name of their XRD."""

    kind: str
    definition: str
    counts: Mapping[str, int]


def text(kinds: Sequence[KindStates], figures: Figures | None, problem: str, style: Style) -> str:
    """The whole picture."""
    parts = [_summary(figures, style) if figures else style.warn(f"▲ {harmless(problem)}")]
    parts += _kind_table(kinds, figures, style) if kinds else [style.dim("no XRDs")]
    if figures:
        parts += _function_table(figures.functions, style)
    return "\n".join(parts) + "\n"


def _summary(figures: Figures, style: Style) -> str:
    errors = f"{figures.errors_per_second:.1f}/s errors ({figures.errors} in all)"
    parts = (
        f"{figures.reconciles_per_second:.1f} reconciles/s ({figures.reconciles} in all)",
        style.bad(f"✗ {errors}") if figures.errors_per_second > 0 else errors,
        f"queue {figures.depth}",
        f"{figures.active} active",
        f"{figures.replicas} replica{'' if figures.replicas == 1 else 's'}",
    )
    return style.symbols(" · ").join(parts)


def _kind_table(kinds: Sequence[KindStates], figures: Figures | None, style: Style) -> list[str]:
    used = [state for state in STATES if any(kind.counts.get(state) for kind in kinds)] or ["ready"]
    titles = dict(zip(STATES, _TITLES, strict=True))
    header = [
        "KIND",
        "XRS",
        *(style.symbols(titles[state]) for state in used),
        *(["RECONCILES/S"] if figures else []),
    ]
    rows = [[style.bold(cell) for cell in header]]
    for kind in sorted(kinds, key=lambda kind: kind.kind):
        total = sum(kind.counts.values())
        cells = [_count(kind.counts.get(state, 0), state, style) for state in used]
        rate = [f"{figures.by_definition.get(kind.definition, 0.0):.1f}"] if figures else []
        rows.append([harmless(kind.kind), str(total), *cells, *rate])
    return ["", *columns(rows)]


def _count(count: int, state: str, style: Style) -> str:
    if not count:
        return style.dim("-")
    paint = {"ready": style.good, "failing": style.bad, "waiting": style.warn, "deleting": style.warn}
    return paint[state](str(count)) if state in paint else str(count)


def _function_table(functions: Sequence[FunctionFigures], style: Style) -> list[str]:
    if not functions:
        return []
    header = ["FUNCTION", "CALLS/S", "CALLS", "P50", "P99", "ERRORS", "CACHE HITS"]
    rows = [[style.bold(cell) for cell in header]]
    rows += [_function_row(function, style) for function in functions]
    return ["", *columns(rows)]


def _function_row(function: FunctionFigures, style: Style) -> list[str]:
    return [
        harmless(function.name),
        f"{function.calls_per_second:.1f}",
        str(function.calls),
        _milliseconds(function.p50),
        _milliseconds(function.p99),
        style.bad(f"✗ {function.errors}") if function.errors else style.dim("-"),
        style.dim("-") if function.cache_hits is None else f"{100 * function.cache_hits:.0f} %",
    ]


def _milliseconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def document(kinds: Sequence[KindStates], figures: Figures | None, problem: str) -> Object:
    """The same for programs."""
    result: Object = {
        "composites": [
            {"kind": kind.kind, "definition": kind.definition, "states": dict(kind.counts)} for kind in kinds
        ]
    }
    if figures is None:
        return {**result, "problem": problem}
    fields = figures._asdict()
    fields["functions"] = [function._asdict() for function in figures.functions]
    return {**result, "controlPlane": {_camel(key): _camel_keys(value) for key, value in fields.items()}}


def _camel_keys(value: object) -> object:
    if isinstance(value, list):
        return [{_camel(key): member for key, member in row.items()} for row in value]
    return value


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
