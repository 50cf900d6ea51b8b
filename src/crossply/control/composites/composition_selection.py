"""Which Composition and which revision a composite resource gets, from what informers have."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Generic, TypeVar

import orjson

from crossply.compose.engine_field_paths import Machinery
from crossply.compose.errors import SelectionError
from crossply.compose.prepared_composition import PreparedComposition, prepare
from crossply.compose.selection import (
    CompositionChoice,
    RevisionChoice,
    Selected,
    composition_choice,
    is_pinned,
    select_composition,
    select_revision,
)
from crossply.control.kinds import COMPOSITION, REVISION
from crossply.kinds.composition import Composition
from crossply.kinds.composition_revision import (
    COMPOSITION_NAME,
    CompositionRevision,
    parse_pipeline,
    parse_revision,
)
from crossply.kinds.definition import Definition
from crossply.kinds.fields import KindError
from crossply.kube.controller import Waiting
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.watch import Key
from crossply.values import Object

T = TypeVar("T")
UNCHECKED_SECONDS = 30.0
"""How long the functions of a new CompositionRevision may take to be checked before that is a failure."""
FETCH = "cannot fetch Composition"
BY_TYPE = "type"
"""The index that finds Compositions by the kind of composite resource that they are for."""
BY_COMPOSITION = "composition"
"""The index that finds CompositionRevisions by their Composition."""


class _PerRevision(Generic[T]):
    """Something made of each CompositionRevision, once for every version of it that the cache has."""

    def __init__(self, revisions: Informer, make: Callable[[Object], T]) -> None:
        self._revisions = revisions
        self._make = make
        self._values: dict[str, tuple[bytes, T]] = {}

    def of(self, name: str, data: bytes) -> T:
        """What is made of the revision with this name, which is encoded in `data`."""
        known = self._values.get(name)
        if known is None or known[0] is not data:
            known = self._values[name] = (data, self._make(orjson.loads(data)))
            if len(self._values) > len(self._revisions):
                self._forget_deleted()
        return known[1]

    def _forget_deleted(self) -> None:
        for name in [known for known in self._values if self._revisions.get("", known) is None]:
            del self._values[name]


class Compositions:
    """Compositions and their revisions; each is parsed when it is first used."""

    def __init__(self, compositions: Informer, revisions: Informer) -> None:
        self._compositions = compositions
        self._revisions = revisions
        self._read = _PerRevision(revisions, parse_revision)
        self._prepared = _PerRevision(revisions, _prepare_revision)
        compositions.add_index(BY_TYPE, _composite_index)
        revisions.add_index(BY_COMPOSITION, lambda revision: [_composition_of(revision)])

    def subscribe(self, subscriber: Callable[[str, str], None]) -> Callable[[], None]:
        """Call `subscriber` with the names of a Composition and, unless empty, of its revision that changed.

        A Composition counts once it has a revision, and that once its functions were checked:
        neither can be used before. Returns how to stop it.
        """

        def composition_changed(change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
            # A change of it that matters makes a revision. Its revision may be known before itself.
            if new is None or (old is None and self._has_revision(key[1])):
                subscriber(key[1], "")

        def revision_changed(change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
            if new is None or self._read.of(key[1], new).is_checked:
                subscriber(_composition_of(orjson.loads(new or old or b"{}")), key[1])

        stops = (
            self._compositions.subscribe(composition_changed),
            self._revisions.subscribe(revision_changed),
        )

        def stop() -> None:
            for unsubscribe in stops:
                unsubscribe()

        return stop

    def select(self, xr: Object, machinery: Machinery, definition: Definition) -> Selected:
        """The Composition of a composite resource; it may not exist."""
        try:
            return select_composition(
                xr,
                machinery,
                self._choices(xr),
                random.choice,
                enforced=definition.enforced_composition or "",
                default=definition.default_composition or "",
            )
        except SelectionError as problem:
            raise problem.within("cannot select Composition") from None

    def select_revision(
        self, xr: Object, machinery: Machinery, definition: Definition, composition: str
    ) -> Selected:
        """The revision of a Composition that a composite resource gets; a pinned one may not exist."""
        if machinery.read(xr, "compositionUpdatePolicy") is None:
            # The API server adds it once there is anything of the engine in the spec.
            xr = machinery.with_field(xr, "compositionUpdatePolicy", definition.default_update_policy)
        if not is_pinned(xr, machinery) and self._compositions.get("", composition) is None:
            raise _not_found(COMPOSITION, composition)
        choices = (
            RevisionChoice(revision.name, revision.number, revision.labels)
            for revision in self._revisions_of(composition)
        )
        try:
            return select_revision(xr, machinery, choices)
        except SelectionError as problem:
            raise problem.within(FETCH) from None

    def prepared_composition(self, name: str, now: str) -> PreparedComposition:
        """What a revision composes by; raises Waiting for a new one whose functions are being checked."""
        data = self._revisions.get("", name)
        if data is None:
            raise _not_found(REVISION, name)
        revision = self._read.of(name, data)
        if not revision.is_valid:
            if not revision.is_checked and _age(data, now) < UNCHECKED_SECONDS:
                raise Waiting(f"waiting for the functions of CompositionRevision {name} to be checked")
            raise _not_valid(name, revision.invalid_because)
        try:
            return self._prepared.of(name, data)
        except KindError as problem:
            raise _not_valid(name, str(problem)) from None

    def _choices(self, xr: Object) -> Iterator[CompositionChoice]:
        """The Compositions for the kind of a composite resource."""
        type_ = _type_key(str(xr.get("apiVersion")), str(xr.get("kind")))
        return (composition_choice(orjson.loads(data)) for data in self._compositions.by(BY_TYPE, type_))

    def _revisions_of(self, composition: str) -> Iterator[CompositionRevision]:
        for key in self._revisions.keys_by(BY_COMPOSITION, composition):
            data = self._revisions.get(*key)
            if data is not None:
                yield self._read.of(key[1], data)

    def _has_revision(self, composition: str) -> bool:
        return any(revision.is_checked for revision in self._revisions_of(composition))


def _not_found(kind: Kind, name: str) -> SelectionError:
    return SelectionError(f'{FETCH}: cannot get {kind.kind}: {kind.kind}.{kind.group} "{name}" not found')


def _not_valid(revision: str, reason: str) -> SelectionError:
    return SelectionError(
        f"selected CompositionRevision {revision} does not have a valid function pipeline: {reason}"
    )


def _type_key(api_version: str, kind: str) -> str:
    return f"{api_version} {kind}"


def _composite_index(composition: Object) -> list[str]:
    try:
        return [_type_key(*composition_choice(composition).composite)]
    except KindError:
        return []  # it is for no kind that it says


def _composition_of(revision: Object) -> str:
    metadata = revision.get("metadata") or {}
    return str((metadata.get("labels") or {}).get(COMPOSITION_NAME, ""))


def _age(data: bytes, now: str) -> float:
    created = orjson.loads(data)["metadata"].get("creationTimestamp")
    if not created:
        return 0.0
    return (datetime.fromisoformat(now) - datetime.fromisoformat(created)).total_seconds()


def _prepare_revision(obj: Object) -> PreparedComposition:
    revision, pipeline = parse_revision(obj), parse_pipeline(obj)
    return prepare(
        Composition(
            name=revision.composition,
            labels=revision.labels,
            annotations={},
            composite=pipeline.composite,
            steps=pipeline.steps,
            connection_secrets_namespace=pipeline.connection_secrets_namespace,
            mode=pipeline.mode,
            reclaim_policy=pipeline.reclaim_policy,
        )
    )
