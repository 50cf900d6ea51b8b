"""A recorded run is complete: the engine with the recorded responses sends the same requests and writes."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings

from crossply.compose.pipeline import PipelineReport
from crossply.compose.reconcile import reconcile
from crossply.errors import CrossplyError
from crossply.runs.capture import CallNote, Capture
from crossply.runs.compressed_run_records import decompress, read_run
from crossply.runs.encoding import RunEncoder
from crossply.runs.model import COMPOSED, FAILED, Run, World
from crossply.runs.recorder import RunRecorder
from crossply.runs.redaction import Redactor
from crossply.runs.sqlite_run_store import IN_MEMORY, RunStore
from tests.support.control.controller_reconcile import run_controller
from tests.support.control.reconcile_scenarios import Scenario, StepScript, scenarios

NEW = Scenario(
    is_legacy=False,
    size=3,
    generation=1,
    has_status=False,
    existing=frozenset(),
    required=frozenset({"r1"}),
    steps=(
        StepScript(frozenset({"a"}), frozenset({"a"}), frozenset(), True, "normal", "name", 2),
        StepScript(frozenset({"b"}), frozenset(), frozenset(), False, "", "", None),
    ),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios)
def test_a_recorded_run_replays_byte_by_byte(scenario: Scenario) -> None:
    recorded = record(scenario)
    assert recorded is not None
    run, document = recorded
    del document["summary"]
    assert replayed(run.world) == document


def test_a_run_records_the_changes_of_its_steps() -> None:
    recorded = record(NEW)
    assert recorded is not None
    run = recorded[0]
    assert run.summary.outcome == COMPOSED
    assert run.summary.composition == "comp"
    assert run.summary.revision == "comp-1"
    assert [(step.name, step.pipeline) for step in run.steps] == [
        ("step-0", 1),
        ("step-1", 1),
        ("step-0", 2),
        ("step-1", 2),
    ]
    first, second = run.steps[:2]
    assert [bool(round_.requirements) for round_ in first.rounds] == [True, True]
    assert [round_.required["one"][0]["metadata"]["name"] for round_ in first.rounds] == ["r1", "r1"]
    assert list(first.desired_after["resources"]) == ["a"]
    assert first.desired_after == second.desired_before
    assert list(second.desired_after["resources"]) == ["a", "b"]
    assert first.results[0]["message"] == "hello"
    assert first.conditions[0]["type"] == "Checked"
    applied = [effect for effect in run.effects if effect.verb == "applied"]
    assert [effect.ref.resource_name for effect in applied[:2]] == ["a", "b"]
    assert {change.path for change in applied[0].changes} >= {"data.seen", "kind"}
    status = next(effect for effect in run.effects if effect.verb == "wrote status")
    assert "status.count" in {change.path for change in status.changes}
    assert run.selection == (
        "Composition comp: the composite resource refers to it; revision comp-1: the newest"
    )


def test_a_failed_run_has_a_reason() -> None:
    fatal = StepScript(frozenset(), frozenset(), frozenset(), False, "fatal", "", None)
    recorded = record(Scenario(True, 1, 1, True, frozenset({"a"}), frozenset(), (fatal,)))
    assert recorded is not None
    run = recorded[0]
    assert (run.summary.outcome, run.summary.code) == (FAILED, "CP-207")
    assert "broken" in run.summary.problem
    assert run.steps[0].problem == "broken"
    assert list(run.observed) == ["a"]


def record(scenario: Scenario) -> tuple[Run, Any] | None:
    """The last run that a reconcile of a scenario left in the store."""
    recorder = RunRecorder(RunStore(IN_MEMORY))
    captured: list[Capture] = []
    recorder.finish = lambda capture, always=False: captured.append(capture)  # type: ignore[method-assign]
    asyncio.run(run_controller(scenario, recorder))
    recorder.finish = RunRecorder.finish.__get__(recorder)  # type: ignore[method-assign]
    stored = recorder.encode(captured[-1])
    recorder.stop()
    return read_run(stored.data), orjson.loads(decompress(stored.data))


def replayed(world: World) -> Any:
    """What is recorded of the engine with the recorded answers, given in the recorded times."""
    report = PipelineReport(world.required)
    capture = Capture(world.xr, world.settings(), world.required)
    capture.started = 0.0
    work = reconcile(world.xr, capture.settings, report)
    problem: CrossplyError | None = None
    answer: Any = None
    try:
        for exchange in world.exchanges:
            effect = work.throw(problem) if problem is not None else work.send(answer)
            answer, problem = exchange.answer, exchange.problem
            # Half a microsecond more: times are recorded as whole ones, rounded down.
            started = exchange.offset + 5e-7
            capture.exchanges.append((effect, answer, problem, started, started + exchange.seconds + 5e-7))
        _ = work.throw(problem) if problem is not None else work.send(answer)
    except (StopIteration, CrossplyError):
        pass
    else:
        raise AssertionError("the engine asks for more than it did")
    capture.calls = [CallNote("", False)] * len(world.exchanges)
    return orjson.loads(orjson.dumps(RunEncoder(Redactor()).encode(capture).fields))
