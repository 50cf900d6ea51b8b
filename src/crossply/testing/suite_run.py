"""Runs the cases of suites with the engine and the functions of `render`, in one process or several."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

from crossply.compose.in_memory_reconcile import Rendered
from crossply.compose.object_metadata import name_of
from crossply.errors import CrossplyError
from crossply.functions.function_set import Runners
from crossply.manifests.files import read_documents
from crossply.rendering.output import documents
from crossply.rendering.running_functions import caller, running
from crossply.testing.coverage import Coverage, Tracker
from crossply.testing.earlier_up_rendering import as_rendered_earlier, without_uid
from crossply.testing.expectation_check import check
from crossply.testing.reconcile_rounds import CaseReconciler, CompositionUnderTest, RoundResult
from crossply.testing.report import finding_of
from crossply.testing.results import BROKEN, FAILED, PASSED, SKIPPED, CaseResult, Finding, SuiteResult
from crossply.testing.snapshots import FOLDER_ENDING, compare, file_name, text_of
from crossply.testing.suite import EVERYTHING, Case, ObservedChange, Suite
from crossply.testing.suite_files import SuiteSource, Unreadable, UpboundFile
from crossply.testing.suite_inputs import PreparedSuite, initial_state, prepare_suite
from crossply.testing.suite_parser import read_suite
from crossply.testing.suite_program import SuiteProgram, tests_of
from crossply.testing.upbound_tests import COMPOSITION_TEST, OPERATION_TEST, is_upbound_test, with_kinds
from crossply.values import Object
from crossply.values.yaml import Document

WHOLE_SUITE = "(the suite)"
"""The name of the case that stands for a suite which cannot be run at all."""


class SuiteRunOptions(NamedTuple):
    """The options of a run."""

    words: tuple[str, ...] = ()
    """Cases whose names contain one of these run; without any, all do."""
    update: bool = False
    fail_fast: bool = False

    def wants(self, suite: Suite, case: Case) -> bool:
        """Whether a case is to be run."""
        return self.wants_named(f"{suite.document.source} {suite.name} {case.name}")

    def wants_named(self, name: str) -> bool:
        """Whether what has this name is to be run."""
        return not self.words or any(word.lower() in name.lower() for word in self.words)


def run_source(source: SuiteSource, options: SuiteRunOptions) -> SuiteResult:
    """Run the tests that were found in one place. Whatever is wrong with them is a verdict, too."""
    if isinstance(source, Unreadable):
        return _broken("", source.source, Finding(source.problem, source.place, hint=source.hint))
    if isinstance(source, Document):
        return run_suite(source, options)
    try:
        documents = documents_of(source)
    except CrossplyError as problem:
        return _broken("", source.source, error_finding(problem, source.source))
    results = [run_suite(document, options) for document in documents]
    return SuiteResult(
        "",
        source.source,
        tuple(case for result in results for case in result.cases),
        tuple(coverage for result in results for coverage in result.coverages),
        tuple(note for result in results for note in result.notes),
    )


def documents_of(source: Document | UpboundFile | SuiteProgram) -> list[Document]:
    """The tests of Compositions in one place; a program is run for it."""
    if isinstance(source, Document):
        return [source]
    if isinstance(source, UpboundFile):
        return list(source.documents)
    return [test for test in tests_of(source) if test.value["kind"] in with_kinds(COMPOSITION_TEST)]


def run_suite(document: Document, options: SuiteRunOptions) -> SuiteResult:
    """Run the suite of a document. Whatever is wrong with it is a verdict, too."""
    name = "" if is_upbound_test(document.value) else name_of(document.value)
    if document.value["kind"] == OPERATION_TEST:
        return _run_operation(document, options)
    try:
        suite = read_suite(document)
        chosen = [case for case in suite.cases if options.wants(suite, case)]
        if not chosen:
            return SuiteResult(name, document.source, ())
        run = SuiteRun(suite, options)
        cases = tuple(run.cases(chosen))
        coverages = () if run.coverage is None else (run.coverage,)
        return SuiteResult(name, document.source, cases, coverages, (*run.notes, *run.tidy(chosen)))
    except CrossplyError as problem:
        return _broken(name, document.source, error_finding(problem, f"{document.source}:{document.line}"))


def _run_operation(document: Document, options: SuiteRunOptions) -> SuiteResult:
    from crossply.testing.operation_test import run_operation_test

    name = f"{document.source} {name_of(document.value)}"
    is_selected = options.wants_named(name)
    return SuiteResult("", document.source, (run_operation_test(document),) if is_selected else ())


def _broken(name: str, file: str, finding: Finding) -> SuiteResult:
    case = CaseResult(WHOLE_SUITE, BROKEN, finding.place, findings=(finding,))
    return SuiteResult(name, file, (case,))


def error_finding(problem: CrossplyError, place: str) -> Finding:
    """What is wrong with a suite or a case."""
    return Finding(str(problem), problem.place or place, hint=problem.hint)


class SuiteRun:
    """One suite under way."""

    __slots__ = ("_options", "_prepared", "_snapshots", "_suite", "_tracker", "coverage", "notes")

    def __init__(self, suite: Suite, options: SuiteRunOptions) -> None:
        self._suite = suite
        self._options = options
        self._tracker = Tracker()
        self._snapshots = os.path.splitext(suite.document.source)[0] + FOLDER_ENDING
        self._prepared: PreparedSuite = prepare_suite(suite)
        self.coverage: Coverage | None = None
        self.notes: tuple[str, ...] = suite.notes

    def cases(self, chosen: list[Case]) -> Iterator[CaseResult]:
        """Run cases, one after the other; functions stay up in between."""
        with running(self._prepared.functions, self._suite.function_runtime) as runners:
            for case in chosen:
                result = self._case(case, runners)
                yield result
                if self._options.fail_fast and result.status in (FAILED, BROKEN):
                    break
        file = self._prepared.file
        self.coverage = self._tracker.coverage(file.composition, file.document)

    def _case(self, case: Case, runners: Runners) -> CaseResult:
        place = self._suite.place(case.path)
        if case.skip:
            return CaseResult(case.name, SKIPPED, place, reason=case.skip)
        started = perf_counter()
        written: list[str] = []
        try:
            findings = tuple(self._findings(case, runners, written))
            status = FAILED if findings else PASSED
        except CrossplyError as problem:
            findings, status = (error_finding(problem, place),), BROKEN
        seconds = perf_counter() - started
        return CaseResult(case.name, status, place, seconds, findings, snapshots=tuple(written))

    def _findings(self, case: Case, runners: Runners, written: list[str]) -> list[Finding]:
        findings = list(self._play(case, runners, written))
        if (
            not findings
            or not self._suite.is_upbound
            or list(self._play(case, runners, written, earlier=True))
        ):
            return findings
        self.notes += (f"{case.name}: holds as earlier versions of up rendered it",)
        return []

    def _play(
        self, case: Case, runners: Runners, written: list[str], *, earlier: bool = False
    ) -> Iterator[Finding]:
        scene = initial_state(self._suite, case, self._prepared)
        call = self._tracker.tracked(caller(runners, self._suite.timeout))
        call = without_uid(call) if earlier else call
        stage = CompositionUnderTest(
            self._prepared.prepared_composition,
            self._prepared.machinery(scene.xr),
            call,
            self._prepared.defaulted,
        )
        play = CaseReconciler(stage, scene)
        before: RoundResult | None = None
        for number, round_ in enumerate(case.rounds, 1):
            shown = number if len(case.rounds) > 1 else 0
            played = play.round(round_.changes, round_.xr_patch)
            played = as_rendered_earlier(played) if earlier else played
            self._tracker.note_composed(played.composed)
            for mismatch in check(round_.expectation, played, before):
                yield finding_of(mismatch, self._suite.place(mismatch.path), shown)
            yield from self._invalid(played, case, shown)
            if round_.snapshot and played.rendered is not None:
                path = os.path.join(self._snapshots, file_name(case.name, number, len(case.rounds)))
                rendered = documents(played.rendered, None, results=True, context=True)
                yield from self._snapshot(path, rendered, shown, written)
            before = played

    def _invalid(self, played: RoundResult, case: Case, shown: int) -> Iterator[Finding]:
        """What was composed that an API server would refuse."""
        validator = self._prepared.validator
        if validator is not None:
            for name, obj in played.composed.items():
                for problem in validator.problems(obj):
                    yield Finding(
                        f"resource {name} is not valid: {problem}", self._suite.place(case.path), round=shown
                    )

    def _snapshot(
        self, path: str, rendered: list[Object], shown: int, written: list[str]
    ) -> Iterator[Finding]:
        if not os.path.exists(path) and not self._options.update:
            yield Finding("there is no snapshot yet", path, round=shown, hint="write it with --update")
            return
        stored = read_documents(path, "cannot read snapshot") if os.path.exists(path) else []
        mismatches = compare(stored, rendered)
        if self._options.update:
            if mismatches or not stored:
                _write(path, text_of(rendered))
                written.append(path)
            return
        for mismatch, place in mismatches:
            yield finding_of(mismatch, place or path, shown)

    def tidy(self, chosen: list[Case]) -> tuple[str, ...]:
        """Report snapshots that no case has any more; with --update, remove them."""
        if not os.path.isdir(self._snapshots) or len(chosen) < len(self._suite.cases):
            return ()
        if os.path.islink(self._snapshots):
            return ()  # what is there may be somebody else's
        used = {
            file_name(case.name, number, len(case.rounds))
            for case in chosen
            for number, round_ in enumerate(case.rounds, 1)
            if round_.snapshot
        }
        unused = [name for name in sorted(os.listdir(self._snapshots)) if name not in used]
        paths = [os.path.join(self._snapshots, name) for name in unused if name.endswith(".yaml")]
        if not self._options.update:
            return tuple(f"unused snapshot {path}; --update removes it" for path in paths)
        for path in paths:
            os.unlink(path)
        return tuple(f"removed unused snapshot {path}" for path in paths)


def _write(path: str, text: str) -> None:
    from crossply.manifests.file_io import check_no_links, make_directory, write_file

    check_no_links(os.path.dirname(os.path.dirname(path)), path, "cannot write snapshot")
    make_directory(os.path.dirname(path), "cannot write snapshot")
    write_file(path, text, "cannot write snapshot")


def render_twice(suite: Suite) -> list[Rendered]:
    """The first rendering, and the one after all resources became ready."""
    prepared = prepare_suite(suite)
    scene = initial_state(suite, Case("", (), ()), prepared)
    with running(prepared.functions, None) as runners:
        call = caller(runners, suite.timeout)
        stage = CompositionUnderTest(
            prepared.prepared_composition, prepared.machinery(scene.xr), call, prepared.defaulted
        )
        play = CaseReconciler(stage, scene)
        return [_reached(play.round()), _reached(play.round([ObservedChange(EVERYTHING, ready=True)]))]


def _reached(played: RoundResult) -> Rendered:
    if played.problem is not None:
        raise played.problem
    assert played.rendered is not None
    return played.rendered


def run_suites(suites: Sequence[SuiteSource], options: SuiteRunOptions, jobs: int) -> Iterator[SuiteResult]:
    """Run suites; with `fail_fast` none is started after a failure."""
    results = _spread(suites, options, jobs) if jobs > 1 and len(suites) > 1 else _in_turn(suites, options)
    for result in results:
        yield result
        if options.fail_fast and (result.count(FAILED) or result.count(BROKEN)):
            break


def _in_turn(suites: Sequence[SuiteSource], options: SuiteRunOptions) -> Iterator[SuiteResult]:
    return (run_source(suite, options) for suite in suites)


def _spread(suites: Sequence[SuiteSource], options: SuiteRunOptions, jobs: int) -> Iterator[SuiteResult]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A fork is ready at once. Nothing runs yet that would not survive it: functions are started by suites.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pool = ProcessPoolExecutor(min(jobs, len(suites)), mp_context=context)
    try:
        for running in [pool.submit(run_source, suite, options) for suite in suites]:
            yield running.result()
    finally:
        pool.shutdown(cancel_futures=True)
