"""Tests of a kind without a control plane: its life, repeated with a crash at every point of it.

    def test_projects():
        try_out(Project, {"title": "Website"}, client=ExternalSystem).check()

A resource is created, changed and deleted by the same reconcile as in a control plane, on an object in
memory. Then everything is done again for each point where the provider may crash: before and after each
effect, and after each call of a method of the client. After a crash the provider starts again, and must end
where the run without a crash ended: with nothing created twice, and nothing left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crossply.provider.crash_points import CrashPoints
from crossply.provider.in_memory_external_system import ExternalSystem
from crossply.provider.managed_kind import managed_kind
from crossply.provider.try_out_lifecycle import Existing, Run, Scenario
from crossply.provider.try_out_report import Expected, Report

__all__ = ["ExternalSystem", "Report", "try_out"]


def try_out(
    cls: type,
    params: Mapping[str, Any] | Any,
    *,
    changes: Sequence[Mapping[str, Any]] = (),
    client: Callable[[], Any] | None = None,
    config: Any = None,
    existing: Existing | None = None,
    drift: Callable[[Any], object] | None = None,
    delete: bool = True,
    crashes: bool = True,
) -> Report:
    """Create a resource of a kind, change and delete it, and do it again with a crash at each point.

    `params` are an instance of the kind's Parameters, or its arguments; references and secrets are given as
    values. `changes` are made one after the other. `client` returns a fresh external system for each run, in
    place of `connect`; or `config` is what `connect` gets, which may also be a function that returns it.
    `existing` lists what exists in the external system. `drift` changes something behind the provider's back,
    which must be noticed and repaired.
    """
    scenario = Scenario(managed_kind(cls), params, changes, client, config, existing, drift, delete)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_report(scenario, crashes))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(
        1
    ) as thread:  # a test that is a coroutine has a loop that cannot be entered again
        return thread.submit(asyncio.run, _report(scenario, crashes)).result()


async def _report(scenario: Scenario, crashes: bool) -> Report:
    report = Report(scenario.kind.kind.kind)
    points = CrashPoints()
    expected = Expected()
    await Run(scenario, points, report, expected).play()
    report.points = points.passed
    if report.problems or not crashes:
        return report
    for index, name in enumerate(points.passed):
        report.runs += 1
        count = points.passed[: index + 1].count(name)
        crash = f"crash {name} ({_nth(count)})"
        await Run(scenario, CrashPoints(index), report, expected, crash).play()
    return report


def _nth(count: int) -> str:
    return (
        f"{count}{'th' if 10 < count % 100 < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(count % 10, 'th')} time"
    )
