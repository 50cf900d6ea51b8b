"""What a run did to the cluster, with the fields that it changed."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.compose import effects
from crossply.compose.object_metadata import name_of, namespace_of, text_in
from crossply.runs.decoding import DecodedRun
from crossply.runs.model import (
    APPLIED,
    DELETE,
    EVENT,
    PUBLISHED,
    RELEASED,
    SAVED,
    STATUS,
    EffectRun,
    Exchange,
    FieldChange,
    ObjectRef,
)
from crossply.values import Object
from crossply.values.differences import MISSING, differences

_BOOKKEEPING = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")
"""What the API server keeps in metadata; no effect is about it."""


def effect_runs(decoded: DecodedRun) -> Iterator[EffectRun]:
    """The effects in their order."""
    for exchange in decoded.world.exchanges:
        for effect in _effects_of(exchange):
            yield effect._replace(offset=exchange.offset, seconds=exchange.seconds)
    for before, written in decoded.writes:
        yield EffectRun(APPLIED, _ref(written), field_changes(before or {}, written))


def _effects_of(exchange: Exchange) -> Iterator[EffectRun]:
    effect, answer = exchange.effect, exchange.answer
    refused = "" if exchange.problem is None else str(exchange.problem)
    match effect:
        case effects.SaveComposite() | effects.WriteStatus():
            changes = field_changes(effect.live, answer if answer is not None else effect.live)
            if changes or refused:
                verb = SAVED if isinstance(effect, effects.SaveComposite) else STATUS
                yield EffectRun(verb, _ref(effect.live), changes, refused)
        case effects.ApplyComposed():
            yield from _applied(effect, exchange)
        case effects.DeleteComposed():
            for deletion in effect.deletions:
                ref = _ref(deletion.snapshot.object, deletion.name)
                yield EffectRun(DELETE, ref, (), refused, deletion.reason)
        case effects.PublishDetails():
            if answer is not None or refused:
                yield EffectRun(PUBLISHED, _ref(effect.xr), (), refused)
        case effects.RemoveFinalizer():
            yield EffectRun(RELEASED, _ref(effect.xr), (), refused)
        case effects.RecordEvents():
            for event in (*effect.events, *(event for group in effect.progress for event in group)):
                message = f"{event.type} {event.reason}: {event.message}"
                yield EffectRun(EVENT, _ref(effect.xr), (), refused, message)


def _applied(effect: effects.ApplyComposed, exchange: Exchange) -> Iterator[EffectRun]:
    answer = exchange.answer
    if answer is None:
        # One of them failed; which ones were applied before is not known.
        yield EffectRun(APPLIED, _ref(effect.xr), (), str(exchange.problem))
        return
    for resource in effect.composed:
        if resource.name in answer.refused:
            yield EffectRun(APPLIED, _ref(resource.object, resource.name), (), answer.refused[resource.name])
        elif resource.name in answer.written:
            before = resource.observed.object if resource.observed is not None else {}
            after = answer.written[resource.name]
            yield EffectRun(APPLIED, _ref(after, resource.name), field_changes(before, after))


def field_changes(before: Object, after: Object) -> tuple[FieldChange, ...]:
    """The fields that differ, but for what the API server keeps itself."""
    return tuple(
        FieldChange(
            difference.field,
            None if difference.before is MISSING else difference.before,
            None if difference.after is MISSING else difference.after,
        )
        for difference in differences(_without_bookkeeping(before), _without_bookkeeping(after))
    )


def _without_bookkeeping(obj: Object) -> Object:
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        return obj
    remaining = {key: value for key, value in metadata.items() if key not in _BOOKKEEPING}
    return {**obj, "metadata": remaining}


def _ref(obj: Object, resource_name: str = "") -> ObjectRef:
    return ObjectRef(
        text_in(obj, "apiVersion"), text_in(obj, "kind"), namespace_of(obj), name_of(obj), resource_name
    )
