"""How recorded runs are shown: the table, the waterfall, what each step changed, and what was written."""

from __future__ import annotations

from crossply.cli.framework.styling import PLAIN, Style
from crossply.cli.runs.field_lines import field_lines
from crossply.cli.runs.json_output import run_list, run_object
from crossply.cli.runs.run_table import RunTable, duration_text
from crossply.cli.runs.run_text import RunText, bar, effect_lines, step_changes, waterfall
from crossply.compose.conditions import RESPONSIVE
from crossply.compose.engine_field_paths import MODERN
from crossply.provenance.model import FieldSource, Provenance, SourceField
from crossply.runs.model import (
    APPLIED,
    COMPOSED,
    COMPOSITE,
    EVENT,
    FAILED,
    EffectRun,
    FieldChange,
    ObjectRef,
    Round,
    Run,
    RunSummary,
    StepRun,
    Subject,
    World,
)
from crossply.values import Object
from crossply.values.differences import Difference

BUCKET = ObjectRef("s3.example.org/v1", "Bucket", "apps", "web-1", "bucket")
SUMMARY = RunSummary(
    id="01hf3k9w2x5a",
    subject=Subject("example.org/v1", "App", "apps", "web", "u-1"),
    started=1_800_000_000.0,
    seconds=0.4,
    triggers=("XR edited (generation 3)",),
    outcome=COMPOSED,
    problem="",
    code="",
    composition="apps",
    revision="apps-1a2b3c4",
    changes=("applied Bucket apps/web-1", "wrote status"),
    steps=2,
    repeats=7,
)


def state(**resources: Object) -> Object:
    return {"resources": {name: {"resource": resource} for name, resource in resources.items()}}


ZONE = {"kind": "Zone", "matchName": "a"}
COMPOSE = StepRun(
    name="compose",
    function="function-go-templating",
    function_revision="function-go-templating-6f3a",
    seconds=0.2,
    offset=0.1,
    rounds=(
        Round(
            {}, {}, 0.1, False, {"resources": {"zones": {"kind": "Zone", "matchName": "a"}}}, {"zones": [{}]}
        ),
        Round({}, {}, 0.1, True, {}, {}),
    ),
    results=({"severity": "SEVERITY_WARNING", "message": "no zone b"},),
    conditions=(),
    desired_before=state(role={"kind": "Role"}),
    desired_after=state(bucket={"kind": "Bucket", "spec": {"region": "eu"}}),
    context_before={},
    context_after={"zone": "a"},
)
WORLD = World(COMPOSITE, {}, MODERN, None, None, RESPONSIVE, (), {}, {}, (), ())
EFFECTS = (
    EffectRun(APPLIED, BUCKET, (FieldChange("spec.region", "us", "eu"), FieldChange("spec.tags", None, 1))),
    EffectRun(EVENT, ObjectRef("example.org/v1", "App", "apps", "web"), message="Selected revision"),
)
RUN = Run(SUMMARY, "the newest revision", {}, {}, (COMPOSE,), EFFECTS, WORLD, 2)


def test_a_bar_begins_and_ends_where_the_step_did() -> None:
    assert bar(0.1, 0.2, 0.4, 40) == " " * 10 + "█" * 20
    assert bar(0.2, 0.0, 0.4, 40) == " " * 20 + "│"
    assert bar(0.0, 9.0, 0.4, 40) == "█" * 40
    assert bar(0.0, 0.0, 0.0, 40) == "│"


def test_the_waterfall_shows_duration_and_rounds_of_every_step() -> None:
    lines = waterfall(RUN, PLAIN)
    assert lines[0].startswith("STEP     FUNCTION                0")
    assert lines[0].endswith("400 ms")
    assert lines[1].endswith("200 ms, 2 rounds, 1 cached")
    assert "█" * 20 in lines[1]


def test_a_second_pipeline_of_a_run_is_labelled() -> None:
    repeated = RUN._replace(steps=(COMPOSE, COMPOSE._replace(pipeline=2)))
    assert any("once more" in line for line in waterfall(repeated, PLAIN))


def test_a_step_shows_the_resources_it_added_changed_and_dropped() -> None:
    assert list(step_changes(COMPOSE, PLAIN)) == [
        "- resource role",
        "+ resource bucket",
        '  + kind: "Bucket"',
        '  + spec.region: "eu"',
        "~ context",
        '  + zone: "a"',
    ]


def test_a_field_names_the_patch_that_set_it() -> None:
    source = FieldSource(
        "compose", "pt", "patch 1 (FromCompositeFieldPath)", "", (SourceField("composite", "spec.region"),)
    )
    other = FieldSource("earlier", "pt", "base", "")
    named = {"ports": [{"name": "a"}, {"name": "b", "port": 1}]}
    step = COMPOSE._replace(desired_after=state(bucket={"kind": "Bucket", "spec": {"region": "eu"}, **named}))
    fields = {"spec.region": source, "kind": other, "ports[1].port": source}
    lines = list(step_changes(step, PLAIN, Provenance({"bucket": fields})))
    behind = "  ← patch 1 (FromCompositeFieldPath), from spec.region"
    assert '  + spec.region: "eu"' + behind in lines
    assert "  + ports[b].port: 1" + behind in lines
    assert '  + kind: "Bucket"' in lines


def test_a_run_shows_requirements_results_and_effects() -> None:
    text = "\n".join(RunText(RUN, PLAIN).lines())
    assert "Run 01hf3k9w2x5a  App/web -n apps" in text
    assert "trigger   XR edited (generation 3)" in text
    assert "revision  apps-1a2b3c4 (the newest revision)" in text
    assert "since     7 more runs changed nothing" in text
    once = RUN._replace(summary=RUN.summary._replace(repeats=1))
    assert "  since     1 more run changed nothing" in RunText(once, PLAIN).lines()
    assert "2 secret values are shown as redacted-…" in text
    assert "? round 1 asked for zones: Zone a; 1 found" in text
    assert "! Warning: no zone b" in text
    assert "~ applied bucket (Bucket apps/web-1)" in text
    assert '    ~ spec.region: "us" → "eu"' in text
    assert "> event: Selected revision" in text


def test_repeated_requirements_and_the_failure_of_a_step_are_printed_once() -> None:
    round_ = Round({}, {}, 0.1, False, {"resources": {"zones": ZONE}}, {"zones": [{}]})
    fatal = ({"severity": "SEVERITY_FATAL", "message": "no zone b"},)
    step = COMPOSE._replace(rounds=(round_, round_), results=fatal, problem="no zone b")
    text = "\n".join(RunText(RUN._replace(steps=(step,)), PLAIN).lines())
    assert text.count("asked for zones: Zone a; 1 found") == 1
    assert text.count("no zone b") == 1


def test_a_write_refused_by_the_api_server_has_its_reason() -> None:
    [line, why] = effect_lines(EffectRun(APPLIED, BUCKET, refused="spec.region: Invalid value"), PLAIN)
    assert line == "! applied bucket (Bucket apps/web-1)"
    assert why == "  ! refused: spec.region: Invalid value"


def test_the_table_has_a_row_for_every_run_with_its_reason_and_changes() -> None:
    table = RunTable(PLAIN, SUMMARY.started + 90, wide=False, subjects=True)
    header, row = table.lines([SUMMARY])
    assert header.split() == ["RUN", "AGE", "XR", "WHY", "TOOK", "SAME", "SINCE", "OUTCOME", "CHANGED"]
    assert "App/web -n apps" in row
    assert row.endswith("Composed   applied Bucket apps/web-1 (+1)")
    assert "90s" in row
    assert "400 ms" in row


def test_a_run_that_failed_shows_its_problem_and_code() -> None:
    failed = SUMMARY._replace(outcome=FAILED, problem="cannot " + "x" * 100, code="CP-207")
    [_, row] = RunTable(PLAIN, SUMMARY.started, wide=False, subjects=False).lines([failed])
    assert "Failed CP-207   cannot xxx" in row
    assert row.endswith("…")
    [_, row] = RunTable(PLAIN, SUMMARY.started, wide=True, subjects=False).lines([failed])
    assert row.endswith("x" * 100)


def test_the_outcome_has_a_symbol_beside_its_colour() -> None:
    colored = Style(colored=True, decorated=True)
    [_, row] = RunTable(colored, SUMMARY.started, wide=False, subjects=False).lines([SUMMARY])
    assert "\x1b[32m✓ Composed\x1b[0m" in row


def test_texts_of_objects_cannot_steer_the_terminal() -> None:
    hostile = "a\x1b[2Jb"
    step = COMPOSE._replace(name=hostile, desired_after=state(bucket={hostile: hostile}))
    effect = EFFECTS[0]._replace(refused=hostile, ref=BUCKET._replace(name=hostile))
    summary = SUMMARY._replace(triggers=(hostile,), problem=hostile)
    run = RUN._replace(summary=summary, steps=(step,), effects=(effect,), selection=hostile)
    assert "\x1b" not in "\n".join(RunText(run, PLAIN).lines())
    assert "\x1b" not in "\n".join(RunTable(PLAIN, 0.0, wide=True, subjects=True).lines([summary]))


def test_json_has_the_fields_of_a_run_in_camel_case() -> None:
    [item] = run_list([SUMMARY])["items"]
    assert item["subject"]["apiVersion"] == "example.org/v1"
    shown = run_object(RUN)
    assert shown["kind"] == "Run"
    assert shown["steps"][0]["desiredAfter"] == COMPOSE.desired_after
    assert shown["effects"][0]["ref"]["resourceName"] == "bucket"
    assert "world" not in shown


def test_durations_have_few_digits() -> None:
    shown = [duration_text(seconds) for seconds in (0.0005, 0.0042, 0.042, 4.2, 420)]
    assert shown == ["500 µs", "4.2 ms", "42 ms", "4.2 s", "420 s"]


def test_of_long_values_the_part_that_differs_is_shown() -> None:
    changes = [Difference(("data", "page"), "x" * 1000 + "blue", "x" * 1000 + "red")]
    [line] = field_lines(changes, PLAIN)
    assert 'xblue" (1006 characters) → …' in line
    assert line.endswith('xred" (1005 characters)')
