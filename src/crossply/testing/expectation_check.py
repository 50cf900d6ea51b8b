"""Compares the result of a round with its expectation: a list of mismatches with their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from crossply.compose.in_memory_reconcile import Rendered
from crossply.compose.object_metadata import COMPOSITE_LABEL, RESOURCE_NAME_ANNOTATION, metadata_of, name_of
from crossply.rendering.output import documents
from crossply.testing.assertion_match import candidates, unequal_fields
from crossply.testing.reconcile_rounds import RoundResult, by_name, resource_name
from crossply.testing.suite import (
    EXACT,
    FORBID,
    Assertion,
    Expectation,
    ExpectedMessage,
    Path,
    Pattern,
    ResourcePattern,
)
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


def check(expectation: Expectation, played: RoundResult, before: RoundResult | None) -> list[Mismatch]:
    """Everything in which a round is not as expected."""
    wrong = list(_failure(expectation, played))
    if wrong or played.rendered is None:
        return wrong
    rendered = played.rendered
    return [
        *_composite(expectation, rendered),
        *_resources(expectation, played),
        *_expected_messages("condition", expectation.conditions, _conditions(rendered)),
        *_expected_messages("result", expectation.results, _results(rendered)),
        *_context(expectation, rendered),
        *_absences(expectation, rendered),
        *_unchanged(expectation, played, before),
        *_assertions(expectation, played),
    ]


def _failure(expectation: Expectation, played: RoundResult) -> Iterator[Mismatch]:
    expected = expectation.failure
    message = None if played.problem is None else str(played.problem)
    if expected is None and message is not None:
        yield Mismatch("pipeline", "failure", MISSING, message, expectation.path)
    elif expected is not None and (message is None or expected.name not in message):
        yield Mismatch(
            "pipeline", "failure", expected.name, MISSING if message is None else message, expected.path
        )


def _matched(subject: str, pattern: Pattern, actual: Any) -> Iterator[Mismatch]:
    for mismatch in mismatches(pattern.object, actual, pattern.match):
        path = (*pattern.path, *written_path(pattern.object, mismatch.path))
        yield Mismatch(subject, mismatch.field, mismatch.before, mismatch.after, path)


def _composite(expectation: Expectation, rendered: Rendered) -> Iterator[Mismatch]:
    if expectation.composite is not None:
        yield from _matched("composite resource", expectation.composite, rendered.composite)


def _resources(expectation: Expectation, played: RoundResult) -> Iterator[Mismatch]:
    composed = played.composed
    for pattern in expectation.resources:
        if pattern.name not in composed:
            yield Mismatch(f"resource {pattern.name}", "", "composed", MISSING, pattern.path)
        else:
            yield from _resource(pattern, composed[pattern.name], played)
    if expectation.other_resources == FORBID:
        known = {pattern.name for pattern in expectation.resources}
        for name in sorted(composed.keys() - known):
            path = (*expectation.path, "otherResources")
            yield Mismatch(f"resource {name}", "", MISSING, "composed", path)


def _resource(pattern: ResourcePattern, actual: Object, played: RoundResult) -> Iterator[Mismatch]:
    subject = f"resource {pattern.name}"
    if pattern.pattern is not None:
        if pattern.pattern.match == EXACT:
            actual = _without_identity(actual, pattern.pattern.object)
        yield from _matched(subject, pattern.pattern, actual)
    if pattern.ready is not None and played.rendered is not None:
        ready = pattern.name not in played.rendered.unready
        if ready != pattern.ready:
            yield Mismatch(subject, "ready", pattern.ready, ready, (*pattern.path, "ready"))


def _without_identity(actual: Object, expected: Object) -> Object:
    """The resource without what the engine gave it, but for what is expected of that."""
    expected_metadata = metadata_of(expected)
    metadata = {
        key: value
        for key, value in metadata_of(actual).items()
        if key not in _IDENTITY or key in expected_metadata
    }
    for field, own_key in (("labels", COMPOSITE_LABEL), ("annotations", RESOURCE_NAME_ANNOTATION)):
        values = dict(metadata.get(field) or {})
        if own_key not in (expected_metadata.get(field) or {}):
            values.pop(own_key, None)
        metadata.pop(field, None)
        if values or field in expected_metadata:
            metadata[field] = values
    rest = {key: value for key, value in actual.items() if key != "metadata"}
    return {**rest, "metadata": metadata} if metadata or "metadata" in expected else rest


def _conditions(rendered: Rendered) -> list[dict[str, str]]:
    status = rendered.composite.get("status") or {}
    return [
        {key: str(value) for key, value in condition.items()} for condition in status.get("conditions") or []
    ]


def _results(rendered: Rendered) -> list[dict[str, str]]:
    return [
        {"severity": event.type, "reason": event.reason, "message": event.message}
        for event in rendered.events
    ]


def _expected_messages(
    kind: str, expected_messages: tuple[ExpectedMessage, ...], actual: list[dict[str, str]]
) -> Iterator[Mismatch]:
    for expected in expected_messages:
        if any(_fits(expected, message) for message in actual):
            continue
        yield from _nearest(kind, expected, actual)


def _fits(expected: ExpectedMessage, actual: dict[str, str]) -> bool:
    if expected.contains is not None and expected.contains not in actual.get("message", ""):
        return False
    return all(actual.get(key, "") == value for key, value in expected.fields.items())


def _nearest(kind: str, expected: ExpectedMessage, actual: list[dict[str, str]]) -> Iterator[Mismatch]:
    """Compare a condition with the one of its type; of anything else say what there is."""
    subject = f"{kind} {expected.fields['type']}" if "type" in expected.fields else kind
    same = [condition for condition in actual if condition.get("type") == expected.fields.get("type")]
    if kind != "condition" or not same:
        shown = {**expected.fields, **({"contains": expected.contains} if expected.contains else {})}
        yield Mismatch(subject, "", shown, actual or MISSING, expected.path)
        return
    for key, value in expected.fields.items():
        if same[0].get(key, "") != value:
            yield Mismatch(subject, key, value, same[0].get(key, MISSING), (*expected.path, key))
    if expected.contains is not None and expected.contains not in same[0].get("message", ""):
        path = (*expected.path, "contains")
        yield Mismatch(subject, "message contains", expected.contains, same[0].get("message", MISSING), path)


def _context(expectation: Expectation, rendered: Rendered) -> Iterator[Mismatch]:
    if expectation.context is not None:
        yield from _matched("context", expectation.context, from_wire(rendered.context or {}))


def _absences(expectation: Expectation, rendered: Rendered) -> Iterator[Mismatch]:
    composed, deleted = by_name(rendered.composed), by_name(rendered.deleted)
    for absent in expectation.absent_resources:
        if absent.name in composed:
            yield Mismatch(f"resource {absent.name}", "", MISSING, composed[absent.name], absent.path)
    for expected_deletion in expectation.deleted:
        name = expected_deletion.name
        if name not in deleted:
            actual = "composed" if name in composed else "not observed"
            yield Mismatch(f"resource {name}", "", "deleted", actual, expected_deletion.path)
    for kind, unwanted, messages in (
        ("condition", expectation.absent_conditions, _conditions(rendered)),
        ("result", expectation.absent_results, _results(rendered)),
    ):
        for expected in unwanted:
            for message in messages:
                if _fits(expected, message):
                    yield Mismatch(kind, "", MISSING, message, expected.path)


def _unchanged(
    expectation: Expectation, played: RoundResult, before: RoundResult | None
) -> Iterator[Mismatch]:
    if not expectation.unchanged:
        return
    path = (*expectation.path, "unchanged")
    earlier = before.composed if before is not None else {}
    for difference in differences(earlier, played.composed):
        subject, field = f"resource {difference.path[0]}", written(difference.path[1:])
        yield Mismatch(subject, field, difference.before, difference.after, path)


def _assertions(expectation: Expectation, played: RoundResult) -> Iterator[Mismatch]:
    """What the objects that were rendered lack of what published tests assert of them."""
    if not expectation.assertions or played.rendered is None:
        return
    rendered = documents(played.rendered, played.xr, results=True, context=True)
    yield from unmet_assertions(expectation.assertions, rendered)


def unmet_assertions(assertions: Iterable[Assertion], rendered: Sequence[Object]) -> Iterator[Mismatch]:
    """What the objects that were rendered lack of what is asserted of them."""
    for assertion in assertions:
        expected = assertion.object
        meant = candidates(expected, rendered)
        subject = _called(expected)
        if not meant:
            same_kind = [obj for obj in rendered if obj.get("kind") == expected.get("kind")]
            actual = [_called(obj) for obj in same_kind or rendered]
            yield Mismatch(f"{subject}: no such resource", "", expected, actual, assertion.path)
            continue
        also = f" (the first of {len(meant)} that it can mean)" if len(meant) > 1 else ""
        for unequal in unequal_fields(expected, meant[0]):
            path = (*assertion.path, *unequal.path)
            yield Mismatch(f"{subject}{also}", unequal.field, unequal.expected, unequal.actual, path)


def _called(obj: Object) -> str:
    """An object in a few words: its kind, its name, and its name in the pipeline."""
    words = [str(obj.get("kind", "")), name_of(obj)]
    if resource_name(obj):
        words.append(f"({resource_name(obj)})")
    return " ".join(filter(None, words))
