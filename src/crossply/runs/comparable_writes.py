"""What a run writes, as plain JSON by what it is written to: for comparing two runs byte by byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from crossply.compose.effects import (
    ApplyComposed,
    DeleteComposed,
    PublishDetails,
    RecordEvents,
    RemoveFinalizer,
    SaveComposite,
    WriteStatus,
)
from crossply.compose.events import Event
from crossply.compose.object_metadata import metadata_of, name_of, namespace_of, text_in
from crossply.compose.operation_run import Operated
from crossply.runs.model import APPLIED, DELETE, EVENT, PUBLISHED, RELEASED, SAVED, STATUS
from crossply.values import Object


class WrittenEffect(NamedTuple):
    """One thing that is written."""

    verb: str
    """Of `runs.model`."""
    target: str
    """What is written to: `bucket (Bucket default/photos-1)`, or `` for the composite resource itself."""
    content: Any
    """JSON; what is written, whole."""


def written_effects(effects: Iterable[Any]) -> tuple[WrittenEffect, ...]:
    """What effects of the engine write, in order; effects that only read are left out."""
    return tuple(written for effect in effects for written in _written(effect))


def written_resources(operated: Operated) -> tuple[WrittenEffect, ...]:
    """What an Operation applies."""
    return tuple(
        WrittenEffect(APPLIED, target_of(resource.name, resource.object), resource.object)
        for resource in operated.resources
    )


def target_of(resource_name: str, obj: Object) -> str:
    """A composed resource by its name in the pipeline, its kind and its place."""
    place = f"{namespace_of(obj)}/{name_of(obj)}" if namespace_of(obj) else name_of(obj)
    return f"{resource_name} ({text_in(obj, 'kind')} {place})"


def _written(effect: Any) -> Iterable[WrittenEffect]:
    write = _WRITES.get(type(effect))
    return () if write is None else write(effect)


def _applied(effect: ApplyComposed) -> Iterator[WrittenEffect]:
    for resource in effect.composed:
        yield WrittenEffect(APPLIED, target_of(resource.name, resource.object), resource.object)


def _deleted(effect: DeleteComposed) -> Iterator[WrittenEffect]:
    for deletion in effect.deletions:
        target = target_of(deletion.name, deletion.snapshot.object)
        yield WrittenEffect(DELETE, target, {"reason": deletion.reason})


def _saved(effect: SaveComposite) -> Iterator[WrittenEffect]:
    """What is saved of a composite resource: nothing else of it is the engine's."""
    desired, metadata = effect.desired, metadata_of(effect.desired)
    shown = {key: metadata[key] for key in ("finalizers", "labels") if key in metadata}
    yield WrittenEffect(SAVED, "", {"metadata": shown, "spec": desired.get("spec")})


def _events(effect: RecordEvents) -> Iterator[WrittenEffect]:
    for event in (*effect.events, *(event for group in effect.progress for event in group)):
        yield WrittenEffect(EVENT, "", _event(event))


def _event(event: Event) -> Object:
    fields = {"type": event.type, "reason": event.reason, "message": event.message}
    return fields if event.claim_message is None else {**fields, "claimMessage": event.claim_message}


def _published(effect: PublishDetails) -> Iterator[WrittenEffect]:
    from base64 import b64encode

    data = {key: b64encode(value).decode() for key, value in effect.details.items()}
    yield WrittenEffect(PUBLISHED, "", {"data": data})


_WRITES: Mapping[type, Callable[[Any], Iterable[WrittenEffect]]] = {
    ApplyComposed: _applied,
    DeleteComposed: _deleted,
    SaveComposite: _saved,
    RecordEvents: _events,
    PublishDetails: _published,
    WriteStatus: lambda effect: [WrittenEffect(STATUS, "", {"status": effect.status})],
    RemoveFinalizer: lambda _: [WrittenEffect(RELEASED, "", {})],
}
