"""The output of `check`: lines for people, JSON for programs, annotations for GitHub."""

from __future__ import annotations

import json

from crossply.checking.check import Report
from crossply.checking.finding import ERROR, Finding
from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style


def as_text(report: Report, style: Style) -> str:
    """Findings with their files and lines, then what was not rendered, then the totals."""
    lines = [line for finding in report.findings for line in _lines(finding, style)]
    lines += [
        style.dim(f"{_shown(item.file)}:{item.line}: not rendered: {harmless(item.reason)}")
        for item in report.skipped
    ]
    lines.append(_summary(report, style))
    return "".join(f"{line}\n" for line in lines)


def _lines(finding: Finding, style: Style) -> list[str]:
    paint = style.bad if finding.level == ERROR else style.warn
    code = f" [{finding.code}]" if finding.code else ""
    place = f"{_shown(finding.file)}:{finding.line}"
    lines = [f"{place}: {paint(finding.level)}: {harmless(finding.message)}{style.dim(code)}"]
    if finding.hint:
        lines.append(f"    {style.accent('hint:')} {harmless(finding.hint)}")
    return lines


def _shown(file: str) -> str:
    """The path of a file on one line."""
    return harmless(file).replace("\n", "\\n")


def _summary(report: Report, style: Style) -> str:
    checked = ", ".join(
        _count(number, noun)
        for number, noun in (
            (report.files, "file"),
            (report.definitions, "definition"),
            (report.compositions, "Composition"),
            (report.examples, "example"),
        )
    )
    found = f"{_count(report.errors, 'error')}, {_count(report.warnings, 'warning')}"
    text = f"{found} in {checked} ({_count(report.rendered, 'rendering')})"
    if not style.decorated:
        return text
    return style.bad(f"✗ {text}") if report.errors else style.good(f"✓ {text}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def as_json(report: Report) -> str:
    """The report as one object."""
    return (
        json.dumps(
            {
                "summary": {
                    "errors": report.errors,
                    "warnings": report.warnings,
                    "files": report.files,
                    "definitions": report.definitions,
                    "compositions": report.compositions,
                    "examples": report.examples,
                    "rendered": report.rendered,
                },
                "findings": [_finding(finding) for finding in report.findings],
                "notRendered": [item._asdict() for item in report.skipped],
            },
            indent=2,
            ensure_ascii=False,
        )
        + "\n"
    )


def _finding(finding: Finding) -> dict[str, str | int]:
    return {key: value for key, value in finding._asdict().items() if value != ""}


def as_annotations(report: Report) -> str:
    """Workflow commands that GitHub shows beside the lines of a pull request."""
    return "".join(f"{_annotation(finding)}\n" for finding in report.findings)


def _annotation(finding: Finding) -> str:
    title = f"crossply check {finding.code}".rstrip()
    text = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
    properties = {"file": finding.file, "line": str(finding.line), "title": title}
    shown = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::{finding.level} {shown}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    """The text without what would end a workflow command or one of its properties."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
