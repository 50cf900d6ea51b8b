"""Results as text: a line for each case, and expected and actual values for failures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from crossply.testing.coverage import RESOURCE, STEP, Coverage, by_composition
from crossply.testing.expectation_check import Mismatch
from crossply.testing.results import BROKEN, FAILED, PASSED, SKIPPED, CaseResult, Finding, SuiteResult
from crossply.values.differences import MISSING
from crossply.values.gojson import dumps
from crossply.values.yaml import dump

_SIGNS = {PASSED: "✓", FAILED: "✗", BROKEN: "!", SKIPPED: "-"}
_LONGEST = 2000
_MOST_LINES = 40
"""Of one value; a whole resource that should not be there would bury everything else."""


def finding_of(mismatch: Mismatch, place: str, round_number: int) -> Finding:
    """A mismatch in words."""
    subject = f"{mismatch.subject}: {mismatch.field}" if mismatch.field else mismatch.subject
    return Finding(subject, place, shown(mismatch.expected), shown(mismatch.actual), round_number)


def shown(value: Any) -> str:
    """A value as readable text: on one line where it is short, else as YAML."""
    if value is MISSING:
        return "(nothing)"
    if not isinstance(value, dict | list) or not value:
        text = value if isinstance(value, str) and value.strip() == value and value else dumps(value)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"
    lines = dump(value).rstrip("\n").splitlines()
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"... and {len(lines) - _MOST_LINES} lines more"]
    return "\n".join(lines)


def suite_text(result: SuiteResult) -> str:
    """The lines of one suite."""
    lines = [f"{result.file}: {result.name}" if result.name else result.file]
    for case in result.cases:
        lines += _case_lines(case)
    lines += [f"  {note}" for note in result.notes]
    return "\n".join(lines) + "\n"


def _case_lines(case: CaseResult) -> Iterable[str]:
    took = f" ({case.seconds * 1000:.0f} ms)" if case.status != SKIPPED else f": skipped, {case.reason}"
    yield f"  {_SIGNS[case.status]} {case.name}{took}"
    for finding in case.findings:
        yield from (f"      {line}".rstrip() for line in finding_lines(finding))
    for snapshot in case.snapshots:
        yield f"      wrote {snapshot}"


def finding_lines(finding: Finding) -> Iterable[str]:
    """What is wrong, where that was expected, and the two values below each other."""
    in_round = f"round {finding.round}: " if finding.round else ""
    yield f"{in_round}{finding.message}"
    if finding.expected or finding.actual:
        yield from _value("- expected: ", finding.expected)
        yield from _value("+ actual:   ", finding.actual)
    if finding.hint:
        yield f"  try: {finding.hint}"
    yield f"  at {finding.place}"


def _value(head: str, text: str) -> Iterable[str]:
    lines = text.split("\n")
    if len(lines) == 1:
        yield f"  {head}{text}"
        return
    yield f"  {head.rstrip()}"
    yield from (f"  {head[0]}   {line}" for line in lines)


def summary(results: Sequence[SuiteResult], seconds: float) -> str:
    """How many cases ended how."""
    counts = {status: sum(result.count(status) for result in results) for status in _SIGNS}
    parts = [f"{count} {status}" for status, count in counts.items() if count or status == PASSED]
    return f"{', '.join(parts)} in {seconds:.2f} s\n"


def coverage_text(coverages: Iterable[Coverage]) -> str:
    """How much of each Composition was reached, and what was not."""
    lines = []
    for coverage in by_composition(coverages):
        reached = ", ".join(_reached(coverage, kind) for kind in (STEP, RESOURCE) if _total(coverage, kind))
        lines.append(f"coverage of Composition {coverage.composition}: {reached}")
        missed = sorted(coverage.missed.items(), key=lambda item: item[1])
        lines += [
            f"  not reached: {part.kind} {part.name} at {coverage.file}:{line}" for part, line in missed
        ]
    return "".join(f"{line}\n" for line in lines)


def _reached(coverage: Coverage, kind: str) -> str:
    reached = sum(part.kind == kind for part in coverage.reached)
    return f"{reached} of {_total(coverage, kind)} {kind}s"


def _total(coverage: Coverage, kind: str) -> int:
    return sum(part.kind == kind for part in (*coverage.reached, *coverage.missed))
