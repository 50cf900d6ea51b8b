"""Running suites in several processes at once; the verdicts come in the order of the suites."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from crossply.testing.suite_files import Unreadable
from crossply.testing.suite_run import Wishes, run_suite
from crossply.testing.verdicts import BROKEN, FAILED, SuiteVerdict
from crossply.values.yaml import Document


def run_suites(suites: Sequence[Document | Unreadable], wishes: Wishes, jobs: int) -> Iterator[SuiteVerdict]:
    """Run suites; with `fail_fast` no further one is begun after a failure."""
    verdicts = _spread(suites, wishes, jobs) if jobs > 1 and len(suites) > 1 else _in_turn(suites, wishes)
    for verdict in verdicts:
        yield verdict
        if wishes.fail_fast and (verdict.count(FAILED) or verdict.count(BROKEN)):
            break


def _in_turn(suites: Sequence[Document | Unreadable], wishes: Wishes) -> Iterator[SuiteVerdict]:
    return (run_suite(each, wishes) for each in suites)


def _spread(suites: Sequence[Document | Unreadable], wishes: Wishes, jobs: int) -> Iterator[SuiteVerdict]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A fork is ready at once. Nothing runs yet that would not survive it: functions are started by suites.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pool = ProcessPoolExecutor(min(jobs, len(suites)), mp_context=context)
    try:
        for running in [pool.submit(run_suite, each, wishes) for each in suites]:
            yield running.result()
    finally:
        pool.shutdown(cancel_futures=True)
