"""Whether a round gave what was expected: a list of mismatches, each with the place of its expectation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from crossply.compose.metadata import COMPOSITE_LABEL, RESOURCE_NAME_ANNOTATION, metadata_of
from crossply.compose.rendering import Rendered
from crossply.testing.reconcile_rounds import Played, by_name
from crossply.testing.suite import EXACT, FORBID, Expectation, Path, Pattern, ResourcePattern, Telling
from crossply.testing.value_matching import mismatches, written_path
from crossply.values import Object
from crossply.values.differences import MISSING, differences, written
from crossply.values.protobuf_struct import from_wire

_IDENTITY = ("name", "generateName", "namespace", "ownerReferences")


class Mismatch(NamedTuple):
    """One thing that is not as expected."""

    subject: str
    """What it is about: the composite resource, a resource, a condition ..."""
    field: str
    expected: Any
    actual: Any
    path: Path
    """Where the expectation was written, in its document."""


def check(expectation: Expectation, played: Played, before: Played | None) -> list[Mismatch]:
    """Everything in which a round is not as expected."""
    wrong = list(_failure(expectation, played))
    if wrong or played.rendered is None:
        return wrong
    rendered = played.rendered
    return [
        *_composite(expectation, rendered),
        *_resources(expectation, played),
        *_tellings("condition", expectation.conditions, _conditions(rendered)),
        *_tellings("result", expectation.results, _results(rendered)),
        *_context(expectation, rendered),
        *_absences(expectation, rendered),
        *_unchanged(expectation, played, before),
    ]


def _failure(expectation: Expectation, played: Played) -> Iterator[Mismatch]:
    wanted = expectation.failure
    told = None if played.problem is None else str(played.problem)
    if wanted is None and told is not None:
        yield Mismatch("pipeline", "failure", MISSING, told, expectation.path)
    elif wanted is not None and (told is None or wanted.name not in told):
        yield Mismatch("pipeline", "failure", wanted.name, MISSING if told is None else told, wanted.path)


def _matched(subject: str, pattern: Pattern, actual: Any) -> Iterator[Mismatch]:
    for each in mismatches(pattern.object, actual, pattern.match):
        path = (*pattern.path, *written_path(pattern.object, each.path))
        yield Mismatch(subject, each.field, each.before, each.after, path)


def _composite(expectation: Expectation, rendered: Rendered) -> Iterator[Mismatch]:
    if expectation.composite is not None:
        yield from _matched("composite resource", expectation.composite, rendered.composite)


def _resources(expectation: Expectation, played: Played) -> Iterator[Mismatch]:
    composed = played.composed
    for wanted in expectation.resources:
        if wanted.name not in composed:
            yield Mismatch(f"resource {wanted.name}", "", "composed", MISSING, wanted.path)
        else:
            yield from _resource(wanted, composed[wanted.name], played)
    if expectation.other_resources == FORBID:
        known = {wanted.name for wanted in expectation.resources}
        for name in sorted(composed.keys() - known):
            path = (*expectation.path, "otherResources")
            yield Mismatch(f"resource {name}", "", MISSING, "composed", path)


def _resource(wanted: ResourcePattern, actual: Object, played: Played) -> Iterator[Mismatch]:
    subject = f"resource {wanted.name}"
    if wanted.pattern is not None:
        if wanted.pattern.match == EXACT:
            actual = _without_identity(actual, wanted.pattern.object)
        yield from _matched(subject, wanted.pattern, actual)
    if wanted.ready is not None and played.rendered is not None:
        ready = wanted.name not in played.rendered.unready
        if ready != wanted.ready:
            yield Mismatch(subject, "ready", wanted.ready, ready, (*wanted.path, "ready"))


def _without_identity(actual: Object, expected: Object) -> Object:
    """The resource without what the engine gave it, but for what is expected of that."""
    wanted = metadata_of(expected)
    metadata = {
        key: value for key, value in metadata_of(actual).items() if key not in _IDENTITY or key in wanted
    }
    for field, ours in (("labels", COMPOSITE_LABEL), ("annotations", RESOURCE_NAME_ANNOTATION)):
        kept = dict(metadata.get(field) or {})
        if ours not in (wanted.get(field) or {}):
            kept.pop(ours, None)
        metadata.pop(field, None)
        if kept or field in wanted:
            metadata[field] = kept
    rest = {key: value for key, value in actual.items() if key != "metadata"}
    return {**rest, "metadata": metadata} if metadata or "metadata" in expected else rest


def _conditions(rendered: Rendered) -> list[dict[str, str]]:
    status = rendered.composite.get("status") or {}
    return [{key: str(value) for key, value in each.items()} for each in status.get("conditions") or []]


def _results(rendered: Rendered) -> list[dict[str, str]]:
    return [
        {"severity": each.type, "reason": each.reason, "message": each.message} for each in rendered.events
    ]


def _tellings(kind: str, wanted: tuple[Telling, ...], told: list[dict[str, str]]) -> Iterator[Mismatch]:
    for telling in wanted:
        if any(_fits(telling, each) for each in told):
            continue
        yield from _nearest(kind, telling, told)


def _fits(telling: Telling, told: dict[str, str]) -> bool:
    if telling.contains is not None and telling.contains not in told.get("message", ""):
        return False
    return all(told.get(key, "") == value for key, value in telling.fields.items())


def _nearest(kind: str, telling: Telling, told: list[dict[str, str]]) -> Iterator[Mismatch]:
    """Compare a condition with the one of its type; of anything else say what there is."""
    subject = f"{kind} {telling.fields['type']}" if "type" in telling.fields else kind
    same = [each for each in told if each.get("type") == telling.fields.get("type")]
    if kind != "condition" or not same:
        shown = {**telling.fields, **({"contains": telling.contains} if telling.contains else {})}
        yield Mismatch(subject, "", shown, told or MISSING, telling.path)
        return
    for key, value in telling.fields.items():
        if same[0].get(key, "") != value:
            yield Mismatch(subject, key, value, same[0].get(key, MISSING), (*telling.path, key))
    if telling.contains is not None and telling.contains not in same[0].get("message", ""):
        path = (*telling.path, "contains")
        yield Mismatch(subject, "message contains", telling.contains, same[0].get("message", MISSING), path)


def _context(expectation: Expectation, rendered: Rendered) -> Iterator[Mismatch]:
    if expectation.context is not None:
        yield from _matched("context", expectation.context, from_wire(rendered.context or {}))


def _absences(expectation: Expectation, rendered: Rendered) -> Iterator[Mismatch]:
    composed, deleted = by_name(rendered.composed), by_name(rendered.deleted)
    for each in expectation.absent_resources:
        if each.name in composed:
            yield Mismatch(f"resource {each.name}", "", MISSING, composed[each.name], each.path)
    for each in expectation.deleted:
        if each.name not in deleted:
            actual = "composed" if each.name in composed else "not observed"
            yield Mismatch(f"resource {each.name}", "", "deleted", actual, each.path)
    for kind, unwanted, told in (
        ("condition", expectation.absent_conditions, _conditions(rendered)),
        ("result", expectation.absent_results, _results(rendered)),
    ):
        for telling in unwanted:
            for found in told:
                if _fits(telling, found):
                    yield Mismatch(kind, "", MISSING, found, telling.path)


def _unchanged(expectation: Expectation, played: Played, before: Played | None) -> Iterator[Mismatch]:
    if not expectation.unchanged:
        return
    path = (*expectation.path, "unchanged")
    earlier = before.composed if before is not None else {}
    for each in differences(earlier, played.composed):
        subject, field = f"resource {each.path[0]}", written(each.path[1:])
        yield Mismatch(subject, field, each.before, each.after, path)
