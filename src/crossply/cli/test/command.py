"""`crossply test`: run test suites of Compositions."""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import perf_counter

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.printing import harmless
from crossply.cli.framework.progress import progress
from crossply.cli.test.painting import painted, painted_summary
from crossply.testing.coverage import by_composition
from crossply.testing.report import coverage_text, suite_text, summary
from crossply.testing.results import BROKEN, FAILED, SuiteResult
from crossply.testing.suite_files import NoSuites, Unreadable, files_below, find_suites
from crossply.testing.suite_run import SuiteRunOptions, run_suites
from crossply.values.yaml import Document

FAILURES, CANNOT_RUN = 1, 2
"""Exit codes: something is not as expected; something could not be run as it was written."""


def run(invocation: Invocation) -> int:
    """Test once, or again and again with --watch."""
    if invocation["watch"]:
        from crossply.cli.framework.file_watcher import watch

        return watch(invocation, test, lambda: _files(invocation))
    return test(invocation)


def _paths(invocation: Invocation) -> list[str]:
    return invocation["path"] or [os.curdir]


def _files(invocation: Invocation) -> Iterable[str]:
    return (file for path in _paths(invocation) for file in files_below(path))


def test(invocation: Invocation) -> int:
    started = perf_counter()
    suites = find_suites(_paths(invocation))
    if invocation["list"]:
        return _list(invocation, suites)
    options = SuiteRunOptions(
        tuple(invocation["filter"] or ()), invocation["update"], invocation["fail-fast"]
    )
    results = _run_suites(invocation, suites, options)
    if not results:
        raise NoSuites(f"no case has {' or '.join(options.words)} in its name", hint="see them with --list")
    return _conclude(invocation, results, perf_counter() - started)


def _run_suites(
    invocation: Invocation, suites: list[Document | Unreadable], options: SuiteRunOptions
) -> list[SuiteResult]:
    """Run the suites and print each when it is done; those without a case that is wanted are left out."""
    results = []
    jobs = invocation["jobs"] or os.cpu_count() or 1
    style = invocation.style
    with progress(invocation, "testing") as line:
        line.count(0, len(suites), "suites")
        for number, result in enumerate(run_suites(suites, options, jobs), 1):
            line.count(number, len(suites), "suites")
            if result.cases:
                results.append(result)
                with line.hidden():
                    invocation.stdout.write(painted(harmless(suite_text(result)), style))
                    invocation.stdout.flush()
    return results


def _conclude(invocation: Invocation, results: list[SuiteResult], seconds: float) -> int:
    coverages = [result.coverage for result in results if result.coverage is not None]
    invocation.stdout.write(coverage_text(coverages))
    failed = any(result.count(BROKEN) + result.count(FAILED) for result in results)
    invocation.stdout.write(painted_summary(summary(results, seconds), failed, invocation.style))
    if invocation["junit"]:
        _write_junit(invocation["junit"], results)
    if any(result.count(BROKEN) for result in results):
        return CANNOT_RUN
    if any(result.count(FAILED) for result in results):
        return FAILURES
    least = invocation["coverage"] or 0
    lacking = [coverage for coverage in by_composition(coverages) if coverage.percent < least]
    for coverage in lacking:
        message = (
            f"only {coverage.percent:.0f} % of Composition {coverage.composition} were reached, not {least} %"
        )
        invocation.stderr.write(f"crossply: {message}\n")
    return FAILURES if lacking else 0


def _list(invocation: Invocation, suites: list[Document | Unreadable]) -> int:
    """Print where each case is, and its name."""
    from crossply.testing.suite_parser import read_suite

    options = SuiteRunOptions(tuple(invocation["filter"] or ()))
    for document in suites:
        if isinstance(document, Unreadable):
            invocation.stdout.write(f"{document.place}: {document.problem}\n")
            continue
        suite = read_suite(document)
        for case in suite.cases:
            if options.wants(suite, case):
                invocation.stdout.write(f"{suite.place(case.path)}: {case.name}\n")
    return 0


def _write_junit(path: str, results: list[SuiteResult]) -> None:
    from crossply.manifests.output_files import write_file
    from crossply.testing.junit import junit_text

    write_file(path, junit_text(results), "cannot write the JUnit file")


COMMAND = Command(
    name="test",
    summary="Run tests of Compositions.",
    description=(
        "Runs suites of kind CompositionTest. Each case renders a composite resource, once or "
        "several times in a row, and compares the result with its expectations. Only the "
        "functions are needed, and many of them are built in. Exit codes: 0 all cases passed, 1 "
        "a case failed, 2 a case could not be run."
    ),
    examples=(
        "crossply test",
        "crossply test apis/ --junit report.xml -j 4",
        "crossply test apis/bucket/composition_test.yaml -k region --watch",
        "crossply test --update",
    ),
    run=run,
    arguments=(
        Argument(
            "path",
            "Files with suites, or directories to search. Defaults to the current directory.",
            kind="path",
            optional=True,
            many=True,
        ),
    ),
    flags=(
        Flag(
            "filter",
            "Run only cases with this text in the name of the file, the suite or the case. Repeatable.",
            short="k",
            kind="strings",
            separator="",
            placeholder="TEXT",
        ),
        Flag("list", "Print the cases instead of running them."),
        Flag("update", "Update the snapshots instead of comparing them.", short="u"),
        Flag("fail-fast", "Stop at the first case that fails.", short="x"),
        Flag(
            "jobs",
            "The number of suites to run in parallel. Defaults to the number of processors.",
            short="j",
            kind="int",
            placeholder="N",
        ),
        Flag("junit", "Also write a JUnit report to this file.", kind="path", placeholder="FILE"),
        Flag(
            "coverage",
            "Fail if less than this percentage of the steps and resources of each Composition was reached.",
            kind="int",
            placeholder="PERCENT",
        ),
        Flag("watch", "Run again whenever one of the files changes, until interrupted."),
    ),
)
