"""The `render` fixture: one or several reconciles in memory, for tests in Python.

Snapshots of what it renders are in files beside the test.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from crossply.compose.function_messages import Request, Response
from crossply.compose.in_memory_cluster import CallFunction
from crossply.compose.in_memory_reconcile import Rendered
from crossply.functions.function_set import Runners
from crossply.functions.in_process import InProcess
from crossply.kinds.composition import Step
from crossply.manifests.file_io import make_directory, write_file
from crossply.manifests.files import read_documents
from crossply.rendering.output import documents
from crossply.rendering.running_functions import caller
from crossply.testing.expectation_check import check
from crossply.testing.reconcile_rounds import CaseReconciler, CompositionUnderTest, RoundResult, by_name
from crossply.testing.report import finding_lines, finding_of
from crossply.testing.snapshots import FOLDER_ENDING, compare, file_name, text_of
from crossply.testing.suite import EVERYTHING, Case, CaseInputs, ObservedChange, Source, Suite
from crossply.testing.suite_inputs import PreparedSuite, initial_state, prepare_suite
from crossply.testing.suite_parser import read_suite
from crossply.values import Object
from crossply.values.yaml import Document, read_first

Input = str | os.PathLike[str] | Object
"""The path of a file, the text of one (it has more than one line), or an object."""
Many = Input | Iterable[Input]
PythonFunction = Callable[..., Any]
Functions = Many | Mapping[str, PythonFunction]
UPDATE = "--crossply-update"


class Renderer:
    """Renders for one test, and stops what was started for it."""

    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots
        self._open: list[Runners] = []

    def __enter__(self) -> Renderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._open:
            self._open.pop().close()

    def __call__(
        self,
        xr: Input,
        composition: Input = "composition.yaml",
        functions: Functions | None = None,
        *,
        xrd: Input | None = None,
        crds: Many | None = None,
        observed: Many = (),
        required: Many = (),
        credentials: Many = (),
        schemas: str | os.PathLike[str] = "",
        context: Object | None = None,
        timeout: float = 60.0,
        function_runtime: str | None = None,
    ) -> Rendition:
        """Reconcile once. A pipeline that fails is `Rendition.problem`, which raises unless it is read.

        `functions` are Function objects, or Python functions by the names that steps call them by.
        """
        written, called = _functions(functions)
        around = CaseInputs(
            _sources(observed), _sources(required), _sources(credentials), os.fspath(schemas), context or {}
        )
        suite = Suite(
            name="",
            document=Document({}, self._snapshots.file, 1),
            cases=(Case("", (), (), _source(xr), None, around),),
            composition=_source(composition),
            functions=written,
            xrd=None if xrd is None else _source(xrd),
            timeout=timeout,
            function_runtime=function_runtime,
            validate=crds is not None,
            crds=_sources(crds or ()),
        )
        return self._played(suite, called)

    def _played(self, suite: Suite, called: Mapping[str, PythonFunction]) -> Rendition:
        prepared = prepare_suite(suite, called)
        scene = initial_state(suite, suite.cases[0], prepared)
        runners = Runners(prepared.functions, suite.function_runtime)
        self._open.append(runners)
        call = _calling(called, runners, suite.timeout)
        stage = CompositionUnderTest(
            prepared.prepared_composition, prepared.machinery(scene.xr), call, prepared.defaulted
        )
        return Rendition(CaseReconciler(stage, scene), prepared, self._snapshots)


def _functions(functions: Functions | None) -> tuple[tuple[Source, ...] | None, Mapping[str, PythonFunction]]:
    if functions is None:
        return None, {}
    if isinstance(functions, Mapping) and all(callable(function) for function in functions.values()):
        return (), functions
    return _sources(functions), {}


def _calling(called: Mapping[str, PythonFunction], runners: Runners, timeout: float) -> CallFunction:
    """Call Python functions in this process and others by their runners, each with the timeout."""
    here = {name: InProcess(name, getattr(function, "run", function)) for name, function in called.items()}

    def call(step: Step, request: Request) -> Response:
        runner = here.get(step.function)
        return caller(runners, timeout)(step, request) if runner is None else runner(request, timeout)

    return call


def _source(source: Input) -> Source:
    if isinstance(source, str) and "\n" in source:
        value: Object = read_first(source).value
        return value
    return source if isinstance(source, dict) else os.fspath(source)


def _sources(sources: Many) -> tuple[Source, ...]:
    if isinstance(sources, str | os.PathLike | dict):
        return (_source(sources),)
    return tuple(_source(source) for source in sources)


class Rendition:
    """The result of a reconcile. `again` runs the next one."""

    def __init__(
        self,
        play: CaseReconciler,
        prepared: PreparedSuite,
        snapshots: Snapshots,
        changes: Iterable[ObservedChange] = (),
        xr_patch: Object | None = None,
        before: RoundResult | None = None,
    ) -> None:
        self._play = play
        self._prepared = prepared
        self._snapshots = snapshots
        self._before = before
        self._played = play.round(changes, xr_patch)
        self._check_valid()

    def _check_valid(self) -> None:
        __tracebackhide__ = True
        validator = self._prepared.validator
        if validator is not None:
            for name, obj in self._played.composed.items():
                problems = validator.problems(obj)
                if problems:
                    raise AssertionError(f"resource {name} is not valid: {'; '.join(problems)}")

    @property
    def problem(self) -> Exception | None:
        """Why the pipeline failed, or None."""
        return self._played.problem

    @property
    def _rendered(self) -> Rendered:
        if self._played.problem is not None:
            raise self._played.problem
        assert self._played.rendered is not None
        return self._played.rendered

    @property
    def composite(self) -> Object:
        """The composite resource: its identity, references and status."""
        return self._rendered.composite

    @property
    def resources(self) -> dict[str, Object]:
        """The composed resources by their names in the pipeline."""
        return by_name(self._rendered.composed)

    @property
    def deleted(self) -> dict[str, Object]:
        """The observed resources that are no longer desired."""
        return by_name(self._rendered.deleted)

    @property
    def conditions(self) -> dict[str, Object]:
        """The conditions of the composite resource by their types; of a pipeline that failed, too."""
        rendered = self._played.rendered or self._rendered
        return {
            condition["type"]: condition
            for condition in (rendered.composite.get("status") or {})["conditions"]
        }

    @property
    def results(self) -> list[tuple[str, str]]:
        """Results as severity and message, also of a failed pipeline."""
        rendered = self._played.rendered or self._rendered
        return [(event.type, event.message) for event in rendered.events]

    @property
    def unready(self) -> tuple[str, ...]:
        """The names of composed resources that are not ready."""
        return self._rendered.unready

    @property
    def context(self) -> Object:
        """The context after the last step."""
        return self._rendered.context or {}

    def expect(self, **expectation: Any) -> Rendition:
        """Compare with what is expected, with the fields of a suite's `expect`; raises AssertionError."""
        __tracebackhide__ = True
        case = {"name": "it", "expect": expectation}
        kind = {"apiVersion": "crossply.dev/v1alpha1", "kind": "CompositionTest"}
        suite = read_suite(Document({**kind, "spec": {"cases": [case]}}, "expect", 1))
        wrong = check(suite.cases[0].rounds[0].expectation, self._played, self._before)
        lines = [line for mismatch in wrong for line in list(finding_lines(finding_of(mismatch, "", 0)))[:-1]]
        if lines:
            raise AssertionError("\n".join(("not as expected:", *lines)))
        return self

    def expect_snapshot(self, name: str = "") -> Rendition:
        """Compare everything with the snapshot; a test with several snapshots names them."""
        __tracebackhide__ = True
        lines = self._snapshots.problems(self._played.rendered or self._rendered, name)
        if lines:
            raise AssertionError("\n".join(("not as it was kept:", *lines)))
        return self

    def again(
        self,
        *,
        ready: Iterable[str] = (),
        status: Mapping[str, Object] | None = None,
        patch: Mapping[str, Object] | None = None,
        gone: Iterable[str] = (),
        xr: Object | None = None,
    ) -> Rendition:
        """Reconcile once more, after composed resources became ready, got a status, changed or went away.

        `ready="*"` stands for all of them; `xr` is a merge patch for the composite resource.
        """
        happened = [ObservedChange(name, status=fields) for name, fields in (status or {}).items()]
        happened += [ObservedChange(name, patch=change) for name, change in (patch or {}).items()]
        happened += [
            ObservedChange(name, ready=True) for name in (EVERYTHING if ready == EVERYTHING else ready)
        ]
        happened += [ObservedChange(name, gone=True) for name in gone]
        return Rendition(self._play, self._prepared, self._snapshots, happened, xr, self._played)


class Snapshots(NamedTuple):
    """The snapshots of one test."""

    file: str
    test: str
    update: bool

    def problems(self, rendered: Rendered, name: str) -> list[str]:
        """The differences from the snapshot as lines; with the update flag it is written instead."""
        folder = os.path.splitext(self.file)[0] + FOLDER_ENDING
        path = os.path.join(folder, file_name(f"{self.test} {name}", 1, 1))
        shown = documents(rendered, None, results=True, context=True)
        if self.update:
            make_directory(folder, "cannot write snapshot")
            write_file(path, text_of(shown), "cannot write snapshot")
            return []
        if not os.path.exists(path):
            return [f"there is no snapshot {path} yet: write it with {UPDATE}"]
        stored = read_documents(path, "cannot read snapshot")
        findings = [finding_of(mismatch, place or path, 0) for mismatch, place in compare(stored, shown)]
        return [line for finding in findings for line in finding_lines(finding)]
