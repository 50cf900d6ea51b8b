"""`crossply test --e2e`: run E2ETests of `up` projects in a running control plane."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

from crossply.cli.framework.command import Invocation
from crossply.errors import CrossplyError
from crossply.testing.results import BROKEN, CaseResult, Finding, SuiteResult
from crossply.testing.suite_files import SuiteSource, Unreadable, UpboundFile, find_suites
from crossply.testing.suite_program import SuiteProgram, tests_of
from crossply.testing.suite_run import SuiteRunOptions, error_finding
from crossply.testing.upbound_tests import E2E_TEST, project_of
from crossply.values.yaml import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.kube.client import Client


def run_e2e(invocation: Invocation, paths: Iterable[str], options: SuiteRunOptions) -> list[SuiteResult]:
    """Run the E2ETests below paths that the options choose, one after the other."""
    from crossply.cli.framework.cluster_configuration import cluster_configuration

    sources = find_suites(paths, E2E_TEST)
    config = cluster_configuration(invocation["context"] or "", invocation.environ)

    async def run() -> list[SuiteResult]:
        from crossply.kube.client import Client

        async with Client(config) as client:
            return [result async for result in _results(client, sources, options)]

    return asyncio.run(run())


async def _results(
    client: Client, sources: Iterable[SuiteSource], options: SuiteRunOptions
) -> AsyncIterator[SuiteResult]:
    for source in sources:
        if isinstance(source, Unreadable):
            yield _broken(source.source, Finding(source.problem, source.place, hint=source.hint))
            continue
        try:
            documents = [item for item in _documents(source) if _is_selected(item, options)]
            cases = [await _case(client, document) for document in documents]
        except CrossplyError as problem:
            yield _broken(source.source, error_finding(problem, source.source))
            continue
        if cases:
            yield SuiteResult("", source.source, tuple(cases))


def _documents(source: Document | UpboundFile | SuiteProgram) -> list[Document]:
    if isinstance(source, SuiteProgram):
        return [test for test in tests_of(source) if test.value["kind"] == E2E_TEST]
    return list(source.documents) if isinstance(source, UpboundFile) else []


def _is_selected(document: Document, options: SuiteRunOptions) -> bool:
    metadata = document.value.get("metadata")
    name = f"{document.source} {metadata.get('name') if isinstance(metadata, dict) else ''}".lower()
    return not options.words or any(word.lower() in name for word in options.words)


async def _case(client: Client, document: Document) -> CaseResult:
    from crossply.project.model_folders import own_definitions
    from crossply.testing.e2e_run import EndToEndRun, read_e2e_test

    test = read_e2e_test(document)
    return await EndToEndRun(client, test, own_definitions(project_of(document.source))).result()


def _broken(file: str, finding: Finding) -> SuiteResult:
    return SuiteResult("", file, (CaseResult("(the suite)", BROKEN, finding.place, findings=(finding,)),))
