"""The output of `validate`: Crossplane's lines, or the same as JSON or YAML.

The output is Crossplane's to the letter, since scripts read it. Where each field is in its file is our own
addition and only shown on request: a line below each error, or `place` in JSON and YAML.
"""

from __future__ import annotations

from typing import Any

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import PLAIN, Style
from crossply.schema.field_errors import OMITTED
from crossply.validation.line_numbers import place_of
from crossply.validation.resource_validation import Finding, Outcome
from crossply.values import Object

_WORDS = {"schema": "schema validation error", "unknownField": "schema validation error"}


class Summary:
    """How many resources ended how."""

    __slots__ = ("invalid", "missing", "total", "valid")

    def __init__(self, outcomes: list[Outcome]) -> None:
        statuses = [outcome.status for outcome in outcomes]
        self.total = len(statuses)
        self.invalid = statuses.count("invalid")
        self.missing = statuses.count("missingSchema")
        # A failure to default is a warning, not an error.
        self.valid = self.total - self.invalid - self.missing


def as_text(outcomes: list[Outcome], skip_success: bool, places: bool, style: Style = PLAIN) -> str:
    """Return one line for each finding and each valid resource, and the totals."""
    lines = [_painted(line, style) for outcome in outcomes for line in _lines(outcome, skip_success, places)]
    summary = Summary(outcomes)
    total = (
        f"Total {summary.total} resources: {summary.missing} missing schemas, "
        f"{summary.valid} success cases, {summary.invalid} failure cases"
    )
    lines.append(style.bold(total))
    return "".join(f"{line}\n" for line in lines)


def _painted(line: str, style: Style) -> str:
    """The line, on a terminal with its sign in colour and without what could steer it."""
    if not style.decorated:
        return line
    sign, rest = line[:3], harmless(line[3:])
    paint = {"[✓]": style.good, "[x]": style.bad, "[!]": style.warn}.get(sign)
    return paint(sign) + rest if paint else style.dim(sign + rest)


def _lines(outcome: Outcome, skip_success: bool, places: bool) -> list[str]:
    kind = f"{outcome.api_version}, Kind={outcome.kind}"
    if outcome.status == "missingSchema":
        return [f"[!] could not find CRD/XRD for: {kind}"]
    if outcome.status == "valid":
        return [] if skip_success else [f"[✓] {kind}, {outcome.name} validated successfully"]
    lines = []
    for finding in outcome.findings:
        lines.append(_line(finding, f"{kind}, {outcome.name}"))
        if places:
            lines.append(f"    at {place_of(finding, outcome.manifest)}")
    return lines


def _line(finding: Finding, subject: str) -> str:
    if finding.type == "defaulting":
        return f"[!] failed to apply defaults for {subject}: {finding.message}"
    words = _WORDS.get(finding.type, "CEL validation error")
    return f"[x] {words} {subject} : {finding.message}"


def as_object(outcomes: list[Outcome], places: bool) -> Object:
    """Return the outcomes as the object that JSON and YAML output show."""
    summary = Summary(outcomes)
    return {
        "summary": {
            "total": summary.total,
            "valid": summary.valid,
            "invalid": summary.invalid,
            "missingSchemas": summary.missing,
        },
        "resources": [_resource(outcome, places) for outcome in outcomes],
    }


def _resource(outcome: Outcome, places: bool) -> Object:
    errors = [_error(finding, outcome, places) for finding in outcome.findings]
    return {
        "apiVersion": outcome.api_version,
        "kind": outcome.kind,
        "name": outcome.name,
        **({"namespace": outcome.namespace} if outcome.namespace else {}),
        "status": outcome.status,
        **({"errors": errors} if errors else {}),
    }


def _error(finding: Finding, outcome: Outcome, places: bool) -> Object:
    error = finding.error
    shown: Object = {"type": finding.type}
    if error is not None:
        shown["field"] = error.field
    shown["message"] = finding.message
    if error is not None and error.value is not None:
        shown["value"] = {} if error.value is OMITTED else error.value
    if places:
        shown["place"] = place_of(finding, outcome.manifest)
    return shown


def as_json_text(value: Any) -> str:
    """Write JSON as Go's encoder indents it."""
    import json

    text = json.dumps(_go_numbers(value), indent=2, ensure_ascii=False)
    for letter, escaped in (("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e")):
        text = text.replace(letter, escaped)
    return f"{text}\n"


def _go_numbers(value: Any) -> Any:
    """Return a value with the floats that Go writes without a fraction as integers."""
    if isinstance(value, dict):
        return {name: _go_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_go_numbers(item) for item in value]
    if isinstance(value, float) and abs(value) < 1e21 and value == int(value):
        return int(value)
    return value
