"""Where fields come from, as a table or, for one field, as a paragraph."""

from __future__ import annotations

import json
from typing import Any

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style
from crossply.provenance.field_managers import FieldManager
from crossply.provenance.field_reports import API_SERVER, ENGINE, FieldReport
from crossply.provenance.model import FieldSource
from crossply.provenance.source_wording import (
    how_text,
    manager_name,
    one_line,
    source_name,
    source_verb,
    sources_text,
)

LONGEST_VALUE, LONGEST_SOURCES, LONGEST_LINE = 40, 80, 160
_TITLES = ("FIELD", "VALUE", "SET BY", "FROM")
_OTHERS = {
    ENGINE: "the composition engine, not a step of the pipeline",
    API_SERVER: "the API server",
}
_NOBODY = "no step of the pipeline: a user, a controller, or a default of the API server"


def field_table(reports: list[FieldReport], style: Style) -> list[str]:
    """A line for each field: value, step and sources. Those of the engine and the API server are counted."""
    shown = [report for report in reports if report.source is not None or report.by not in _OTHERS]
    lines = _table(shown, style) if shown else []
    if len(shown) < len(reports):
        counted = "field is" if len(reports) - len(shown) == 1 else "fields are"
        text = f"{len(reports) - len(shown)} more {counted} set by the engine and the API server"
        lines.append(style.dim(text))
    return lines


def _table(reports: list[FieldReport], style: Style) -> list[str]:
    rows = [(_cell(r.path), _cropped(_value(r.value), LONGEST_VALUE), _set_by(r), _from(r)) for r in reports]
    widths = [max(len(row[at]) for row in (_TITLES, *rows)) for at in range(3)]
    lines = []
    for row in (_TITLES, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        line = "  ".join([*cells, row[3]]).rstrip()
        lines.append(style.bold(line) if row is _TITLES else style.symbols(line))
    return lines


def field_paragraph(report: FieldReport, style: Style) -> list[str]:
    """Everything that is known about one field."""
    lines = [f"{style.bold(_cell(report.path))}: {_cropped(_value(report.value), 400)}"]
    source = report.source
    if source is None:
        lines.append(f"  set by  {_OTHERS.get(report.by, _NOBODY)}")
    else:
        lines += _source_lines(source)
        for earlier in source.before:
            lines.append(f"  before  {_step(earlier)}: {_how(earlier)}")
    lines += [f"  written by  {_manager(manager)}" for manager in report.managers]
    return [style.symbols(line) for line in lines]


def _source_lines(source: FieldSource) -> list[str]:
    where = f" ({_cell(source.where)})" if source.where and source.where not in source.how else ""
    lines = [f"  set by  {_step(source)}: {_how(source)}{where}"]
    if source.how != "function":
        lines.append(f"  function  {_cell(source.function)}")
    lines += [f"  {source_verb(field)}  {_cell(source_name(field))}" for field in source.sources]
    if not source.sources:
        lines.append("  from  the Composition: no other field decides it")
    return lines


def source_line(source: FieldSource) -> str:
    """The step, how it set a field, and the sources, in one line."""
    return f"set by {_step(source)}: {_cropped(_cell(one_line(source)), LONGEST_LINE)}"


def _set_by(report: FieldReport) -> str:
    if report.source is not None:
        return f"{_step(report.source)}: {_how(report.source)}"
    if report.managers and report.by not in _OTHERS:
        return f"({_cell(manager_name(report.managers[0]))})"
    return f"({report.by})" if report.by in _OTHERS else "(not by the pipeline)"


def _from(report: FieldReport) -> str:
    return "" if report.source is None else _cropped(_cell(sources_text(report.source)), LONGEST_SOURCES)


def _manager(manager: FieldManager) -> str:
    return _cell(f"{manager_name(manager)} ({manager.operation}, {manager.time})")


def _step(source: FieldSource) -> str:
    return f"step {_cell(source.step)}"


def _how(source: FieldSource) -> str:
    return _cell(how_text(source))


def _value(value: Any) -> str:
    return harmless(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def _cropped(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _cell(text: str) -> str:
    return " ".join(harmless(text).split())
