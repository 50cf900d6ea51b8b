"""A whole run as text: what woke it, its waterfall, what each step changed, and what was written.

What a step changed of the desired state and of the context has beside it where each field comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.layout import columns
from crossply.cli.framework.styling import Style
from crossply.cli.runs.field_lines import ChangedField, change_lines, field_lines, indented
from crossply.cli.runs.run_table import duration_text, outcome_text, subject_text
from crossply.provenance.model import COMPOSITE_STATUS, Provenance
from crossply.provenance.source_wording import one_line
from crossply.runs.model import EVENT, EffectRun, ObjectRef, Run, StepRun
from crossply.values import Object
from crossply.values.differences import MISSING, Item, Path, differences
from crossply.values.field_path import to_string

_SEVERITY_SIGNS = {"SEVERITY_FATAL": "!", "SEVERITY_WARNING": "!"}
_WIDTH = 40
"""How many characters the time of the whole run has."""
_FULL, _SHORT = "█", "│"

_COMPOSITE = "composite resource"
_NAMED_BY = ("name", "type")


class RunText:
    """Writes one run."""

    def __init__(self, run: Run, style: Style, provenance: Provenance | None = None) -> None:
        self._run = run
        self._style = style
        self._provenance = provenance

    def lines(self) -> Iterator[str]:
        yield from self._header()
        if self._run.steps:
            yield ""
            yield from waterfall(self._run, self._style)
        for step in self._run.steps:
            yield ""
            yield from self._step(step)
        yield ""
        yield from self._effects()

    def _header(self) -> Iterator[str]:
        summary, style = self._run.summary, self._style
        started = datetime.fromtimestamp(summary.started, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        took = duration_text(summary.seconds)
        yield f"{style.bold('Run ' + summary.id)}  {harmless(subject_text(summary.subject))}"
        yield f"  outcome   {outcome_text(style, summary)}, {started}, took {took}"
        if summary.problem:
            yield from indented([style.bad(f"! {harmless(summary.problem)}")], 2)
        yield f"  trigger   {harmless('; '.join(summary.triggers)) or 'unknown'}"
        if summary.revision:
            why = f" ({harmless(self._run.selection)})" if self._run.selection else ""
            yield f"  revision  {harmless(summary.revision)}{why}"
        if summary.repeats:
            runs = "run" if summary.repeats == 1 else "runs"
            yield f"  since     {summary.repeats} more {runs} changed nothing"
        if self._run.redacted:
            values = "secret value is" if self._run.redacted == 1 else "secret values are"
            yield f"  redacted  {self._run.redacted} {values} shown as redacted-…"

    def _step(self, step: StepRun) -> Iterator[str]:
        style = self._style
        revision = f", revision {step.function_revision}" if step.function_revision else ""
        repeat = ", once more" if step.pipeline > 1 else ""
        yield f"{style.bold('Step ' + harmless(step.name))} ({harmless(step.function + revision)}{repeat})"
        lines = [
            *self._requirements(step),
            *step_changes(step, style, self._provenance),
            *self._messages(step),
        ]
        yield from indented(lines or [style.dim("= changed nothing")], 1)

    def _requirements(self, step: StepRun) -> Iterator[str]:
        printed: set[tuple[str, str]] = set()
        for number, round_ in enumerate(step.rounds, 1):
            for name, description in _requirement_texts(round_.requirements):
                if (name, description) not in printed:
                    printed.add((name, description))
                    count = _count_text(round_.required.get(name))
                    yield f"? round {number} asked for {harmless(name)}: {harmless(description)}; {count}"

    def _messages(self, step: StepRun) -> Iterator[str]:
        style = self._style
        for result in step.results:
            severity = str(result.get("severity", ""))
            sign = _SEVERITY_SIGNS.get(severity, ">")
            word = severity.removeprefix("SEVERITY_").capitalize()
            yield style.sign(sign, f"{sign} {word}: {harmless(str(result.get('message', '')))}")
        for condition in step.conditions:
            status = str(condition.get("status", "")).removeprefix("STATUS_CONDITION_").capitalize()
            reason = f" ({condition['reason']})" if condition.get("reason") else ""
            yield harmless(f"> condition {condition.get('type')} {status}{reason}")
        if step.problem and step.problem not in [result.get("message") for result in step.results]:
            yield style.bad(f"! {harmless(step.problem)}")

    def _effects(self) -> Iterator[str]:
        yield self._style.bold("Effects")
        lines = [line for effect in self._run.effects for line in effect_lines(effect, self._style)]
        yield from indented(lines or [self._style.dim("= none")], 1)


def _requirement_texts(requirements: Object) -> Iterator[tuple[str, str]]:
    for group in ("resources", "extraResources", "schemas"):
        for name, selector in (requirements.get(group) or {}).items():
            description = str(selector.get("kind", ""))
            if selector.get("matchName"):
                description += f" {selector['matchName']}"
            labels = (selector.get("matchLabels") or {}).get("labels") or {}
            if labels:
                description += " with " + ", ".join(f"{key}={value}" for key, value in labels.items())
            yield name, f"the schema of {description}" if group == "schemas" else description


def _count_text(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value) or 'none'} found"
    return harmless(value) if isinstance(value, str) else "none found" if value is None else "found"


def effect_lines(effect: EffectRun, style: Style) -> Iterator[str]:
    """An effect, and the fields that it changed."""
    if effect.verb == EVENT:
        yield style.dim(f"> event: {harmless(effect.message)}")
        return
    sign = "!" if effect.refused else "-" if effect.verb == "deleted" else "~" if effect.changes else "="
    unchanged = "" if effect.changes or sign != "=" else " (nothing to change)"
    yield style.sign(sign, f"{sign} {effect.verb} {harmless(ref_text(effect.ref))}{unchanged}")
    if effect.refused:
        yield from indented([style.bad(f"! refused: {harmless(effect.refused)}")], 1)
    changes = [ChangedField(change.path, _value(change.old), _value(change.new)) for change in effect.changes]
    yield from indented(change_lines(changes, style), 1)


def _value(recorded: Any) -> Any:
    return MISSING if recorded is None else recorded


def ref_text(ref: ObjectRef) -> str:
    """`bucket (Bucket apps/photos-1)`, or the kind and name of what has no name in the pipeline."""
    place = f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
    return f"{ref.resource_name} ({ref.kind} {place})" if ref.resource_name else f"{ref.kind} {place}"


def waterfall(run: Run, style: Style) -> list[str]:
    """A line for each step: name, function, bar, duration, rounds; then one for what was written."""
    end = duration_text(run.summary.seconds)
    rows = [["STEP", "FUNCTION", "0" + end.rjust(_WIDTH - 1), ""]]
    rows += _rows(run, style)
    return columns(rows, gap=2)


def _rows(run: Run, style: Style) -> Iterator[list[str]]:
    whole, pipeline = run.summary.seconds, 1
    for step in run.steps:
        if step.pipeline != pipeline:
            pipeline = step.pipeline
            yield [style.dim("once more, to observe what was created")]
        paint = style.bad if step.problem else style.accent
        drawn = paint(bar(step.offset, step.seconds, whole))
        yield [harmless(step.name), harmless(step.function), drawn, _remarks(step)]
    written = [effect for effect in run.effects if effect.verb != EVENT and effect.seconds > 0]
    if written:
        first, last = min(map(_start, written)), max(map(_end, written))
        drawn = style.good(bar(first, last - first, whole))
        yield [style.dim("(writes)"), "", drawn, duration_text(last - first)]


def bar(offset: float, seconds: float, whole: float, width: int = _WIDTH) -> str:
    """A bar that begins and ends where the step did; a step that is too short for one has a mark."""
    if whole <= 0:
        return _SHORT
    first = min(int(offset / whole * width), width - 1)
    last = min(round((offset + seconds) / whole * width), width)
    return " " * first + (_FULL * (last - first) if last > first else _SHORT)


def _start(effect: EffectRun) -> float:
    return effect.offset


def _end(effect: EffectRun) -> float:
    return effect.offset + effect.seconds


def _remarks(step: StepRun) -> str:
    remarks = [duration_text(step.seconds)]
    if len(step.rounds) > 1:
        remarks.append(f"{len(step.rounds)} rounds")
    cached = sum(1 for round_ in step.rounds if round_.cached)
    if cached:
        remarks.append("cached" if cached == len(step.rounds) else f"{cached} cached")
    if step.problem:
        remarks.append("failed")
    return ", ".join(remarks)


def step_changes(step: StepRun, style: Style, provenance: Provenance | None = None) -> Iterator[str]:
    """A line for each resource that a step added, changed or dropped, and for each of its fields."""
    before, after = _desired(step.desired_before), _desired(step.desired_after)
    for title in {**before, **after}:
        old, new = before.get(title, MISSING), after.get(title, MISSING)
        fields = differences(old, new)
        if not fields and old is not MISSING and new is not MISSING:
            continue
        sign = "+" if old is MISSING else "-" if new is MISSING else "~"
        yield style.sign(sign, f"{sign} {harmless(title)}")
        if new is not MISSING:
            yield from indented(field_lines(fields, style, _origins(step, title, new, provenance)), 1)
    context = differences(step.context_before, step.context_after)
    if context:
        yield style.sign("~", "~ context")
        yield from indented(field_lines(context, style), 1)


def _desired(state: Object) -> dict[str, Any]:
    """A desired state by what users call its parts."""
    parts: dict[str, Any] = {}
    composite = _shown(state.get("composite"))
    if composite:
        parts[_COMPOSITE] = composite
    for name, resource in (state.get("resources") or {}).items():
        parts[f"resource {name}"] = _shown(resource)
    return parts


def _shown(resource: Any) -> Object:
    """A resource of a state as its object, with what functions say beside it."""
    if not isinstance(resource, dict):
        return {}
    shown = dict(resource.get("resource") or {})
    for key in ("ready", "connectionDetails"):
        if resource.get(key):
            shown[f"({key})"] = resource[key]
    return shown


def _origins(step: StepRun, title: str, obj: Object, provenance: Provenance | None) -> Callable[[Path], str]:
    """Where the fields of a desired object come from, as far as this step set them last."""
    resource = COMPOSITE_STATUS if title == _COMPOSITE else title.removeprefix("resource ")

    def origin(path: Path) -> str:
        if provenance is None or not path or str(path[0]).startswith("("):
            return ""
        source = provenance.of(resource, to_string(_by_index(obj, path)))
        if source is None or source.step != step.name or source.how == "function":
            return ""
        return one_line(source)

    return origin


def _by_index(obj: Any, path: Path) -> tuple[str | int, ...]:
    """A path in which items of lists are known by their index, not by their name."""
    plain: list[str | int] = []
    for segment in path:
        if isinstance(segment, Item) and isinstance(obj, list):
            segment = next((index for index, item in enumerate(obj) if _is_called(item, segment)), 0)
        elif isinstance(segment, Item):
            segment = str(segment)
        plain.append(segment)
        obj = _child(obj, segment)
    return tuple(plain)


def _is_called(item: Any, name: str) -> bool:
    return isinstance(item, dict) and any(item.get(key) == name for key in _NAMED_BY)


def _child(obj: Any, segment: str | int) -> Any:
    if isinstance(obj, dict):
        return obj.get(segment)
    if isinstance(obj, list) and isinstance(segment, int) and segment < len(obj):
        return obj[segment]
    return None
