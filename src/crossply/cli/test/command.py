"""`crossply test`: run test suites of Compositions."""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import perf_counter

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.common_flags import SHELL_FLAGS, allow_shell
from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.progress import progress
from crossply.cli.framework.styling import Style
from crossply.testing.coverage import by_composition
from crossply.testing.report import coverage_text, suite_text, summary
from crossply.testing.results import BROKEN, FAILED, SuiteResult
from crossply.testing.suite_files import NoSuites, SuiteSource, Unreadable, files_below, find_suites
from crossply.testing.suite_run import SuiteRunOptions, documents_of, run_suites

FAILURES, CANNOT_RUN = 1, 2
"""Exit codes: something is not as expected; something could not be run as it was written."""


def run(invocation: Invocation) -> int:
    """Test once, or again and again with --watch."""
    allow_shell(invocation)
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
    options = SuiteRunOptions(
        tuple(invocation["filter"] or ()), invocation["update"], invocation["fail-fast"]
    )
    if invocation["e2e"]:
        results = _run_e2e(invocation, options)
    else:
        suites = find_suites(_paths(invocation))
        if invocation["list"]:
            return _list(invocation, suites)
        results = _run_suites(invocation, suites, options)
    if not results:
        raise NoSuites(f"no case has {' or '.join(options.words)} in its name", hint="see them with --list")
    return _conclude(invocation, results, perf_counter() - started)


def _run_e2e(invocation: Invocation, options: SuiteRunOptions) -> list[SuiteResult]:
    from crossply.cli.test.e2e import run_e2e

    results = run_e2e(invocation, _paths(invocation), options)
    for result in results:
        invocation.stdout.write(_styled(harmless(suite_text(result)), invocation.style))
    return results


def _run_suites(
    invocation: Invocation, suites: list[SuiteSource], options: SuiteRunOptions
) -> list[SuiteResult]:
    """Run the suites and print each when it is done; suites without a selected case are left out."""
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
                    invocation.stdout.write(_styled(harmless(suite_text(result)), style))
                    invocation.stdout.flush()
    return results


def _conclude(invocation: Invocation, results: list[SuiteResult], seconds: float) -> int:
    coverages = [coverage for result in results for coverage in result.coverages]
    invocation.stdout.write(coverage_text(coverages))
    failed = any(result.count(BROKEN) + result.count(FAILED) for result in results)
    invocation.stdout.write(_styled_summary(summary(results, seconds), failed, invocation.style))
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


def _list(invocation: Invocation, suites: list[SuiteSource]) -> int:
    """Print where each case is, and its name."""
    from crossply.compose.object_metadata import name_of
    from crossply.testing.suite_parser import read_suite
    from crossply.testing.upbound_tests import OPERATION_TEST

    options = SuiteRunOptions(tuple(invocation["filter"] or ()))
    for source in suites:
        if isinstance(source, Unreadable):
            invocation.stdout.write(f"{source.place}: {source.problem}\n")
            continue
        for document in documents_of(source):
            if document.value["kind"] == OPERATION_TEST:
                name = name_of(document.value)
                if options.wants_named(f"{document.source} {name}"):
                    invocation.stdout.write(f"{document.source}:{document.line}: {name}\n")
                continue
            suite = read_suite(document)
            for case in suite.cases:
                if options.wants(suite, case):
                    invocation.stdout.write(f"{suite.place(case.path)}: {case.name}\n")
    return 0


def _write_junit(path: str, results: list[SuiteResult]) -> None:
    from crossply.manifests.file_io import write_file
    from crossply.testing.junit import junit_text

    write_file(path, junit_text(results), "cannot write the JUnit file")


def _styled(text: str, style: Style) -> str:
    """The text with colours, if the output is a terminal."""
    if not style.decorated:
        return text
    return "".join(_styled_line(line, style) for line in text.splitlines(keepends=True))


def _styled_line(line: str, style: Style) -> str:
    text = line.rstrip("\n")
    words = text.lstrip()
    indent = text[: len(text) - len(words)]
    sign = words[:2]
    if sign == "✓ ":
        words = style.good("✓") + words[1:]
    elif sign in ("✗ ", "! "):
        words = style.bad(words[0]) + style.bold(words[1:])
    elif sign == "- " and len(indent) == 2:
        words = style.dim(words)  # a case that was skipped
    elif sign == "- ":
        words = style.good(words)
    elif sign == "+ ":
        words = style.bad(words)
    elif not indent and words:
        words = style.bold(words)
    return f"{indent}{style.symbols(words)}" + line[len(text) :]


def _styled_summary(text: str, failed: bool, style: Style) -> str:
    """The last line: green if all cases passed."""
    line = text.rstrip("\n")
    return f"{style.bad(f'✗ {line}') if failed else style.good(f'✓ {line}')}\n" if style.decorated else text


COMMAND = Command(
    name="test",
    summary="Run tests of Compositions.",
    description=(
        "Runs suites of kind CompositionTest, and the CompositionTests and OperationTests of up projects. "
        "Each case renders a composite resource, once or several times in a row, and compares the result "
        "with its expectations. "
        "Only the functions are needed, and many of them are built in. Exit codes: 0 all cases passed, 1 a "
        "case failed, 2 a case could not be run."
    ),
    examples=(
        "crossply test",
        "crossply test apis/ --junit report.xml -j 4",
        "crossply test apis/bucket/composition_test.yaml -k region --watch",
        "crossply test --update",
        "crossply test --e2e tests/e2etest-lamps",
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
        *SHELL_FLAGS,
        Flag("watch", "Run again whenever one of the files changes, until interrupted."),
        Flag(
            "e2e",
            "Run the E2ETests of an up project instead, in the control plane of the kubeconfig: apply their "
            "objects, wait for conditions, and delete what they created.",
        ),
        Flag("context", "The context of the kubeconfig to use with --e2e.", kind="string"),
    ),
)
