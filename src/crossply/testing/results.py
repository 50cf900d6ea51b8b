"""Results of suites and cases: plain data that is passed between processes."""

from __future__ import annotations

from typing import NamedTuple

from crossply.testing.coverage import Coverage

PASSED, FAILED, BROKEN, SKIPPED = "passed", "failed", "broken", "skipped"
"""A case is broken when it could not be run as it was written."""


class Finding(NamedTuple):
    """One thing that is wrong: what, where it was expected, and the two values as texts."""

    message: str
    place: str
    expected: str = ""
    actual: str = ""
    round: int = 0
    """Which round of several it is about; 0 where there is only one."""
    hint: str = ""


class CaseResult(NamedTuple):
    name: str
    status: str
    place: str
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    """Why it was skipped."""
    snapshots: tuple[str, ...] = ()
    """The snapshots that were written."""


class SuiteResult(NamedTuple):
    name: str
    file: str
    cases: tuple[CaseResult, ...]
    coverages: tuple[Coverage, ...] = ()
    """What was reached of each Composition."""
    notes: tuple[str, ...] = ()

    def count(self, status: str) -> int:
        """How many of its cases ended so."""
        return sum(case.status == status for case in self.cases)
