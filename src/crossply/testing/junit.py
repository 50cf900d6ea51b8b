"""Results as a JUnit report, for continuous integration."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from crossply.testing.report import finding_lines
from crossply.testing.results import BROKEN, FAILED, SKIPPED, CaseResult, SuiteResult


def junit_text(results: Sequence[SuiteResult]) -> str:
    """The whole file."""
    suites = "".join(_suite(result) for result in results)
    totals = _totals([case for result in results for case in result.cases])
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f'{head}\n<testsuites name="crossply"{totals}>\n{suites}</testsuites>\n'


def _totals(cases: Sequence[CaseResult]) -> str:
    def count(status: str) -> int:
        return sum(case.status == status for case in cases)

    seconds = sum(case.seconds for case in cases)
    counts = f'failures="{count(FAILED)}" errors="{count(BROKEN)}" skipped="{count(SKIPPED)}"'
    return f' tests="{len(cases)}" {counts} time="{seconds:.3f}"'


def _suite(result: SuiteResult) -> str:
    cases = "".join(_case(result, case) for case in result.cases)
    head = f"<testsuite name={_attribute(result.name or result.file)}{_totals(result.cases)}>"
    return f"  {head}\n{cases}  </testsuite>\n"


def _case(suite: SuiteResult, case: CaseResult) -> str:
    file, _, line = case.place.rpartition(":")
    head = (
        f"    <testcase classname={_attribute(suite.name or suite.file)} name={_attribute(case.name)} "
        f'file={_attribute(file)} line="{line}" time="{case.seconds:.3f}"'
    )
    inner = _inner(case)
    return f"{head}>\n{inner}    </testcase>\n" if inner else f"{head}/>\n"


def _inner(case: CaseResult) -> str:
    if case.status == SKIPPED:
        return f"      <skipped message={_attribute(case.reason)}/>\n"
    if case.status not in (FAILED, BROKEN):
        return ""
    word = "failure" if case.status == FAILED else "error"
    text = "\n".join(line for finding in case.findings for line in finding_lines(finding))
    message = case.findings[0].message if case.findings else case.status
    return f"      <{word} message={_attribute(message)}>{escape(_allowed(text))}</{word}>\n"


def _attribute(text: str) -> str:
    return quoteattr(_allowed(text))


def _allowed(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return "".join(char if _is_allowed(char) else "\ufffd" for char in text)


def _is_allowed(char: str) -> bool:
    if char < " ":
        return char in "\t\n\r"
    return char not in "\ufffe\uffff" and not "\ud800" <= char <= "\udfff"
