"""Which Composition and which revision a composite resource gets, from what the caches hold."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime

import orjson

from crossply.compose.errors import SelectionError
from crossply.compose.machinery import Machinery
from crossply.compose.recipe import Recipe, prepare
from crossply.compose.selection import RevisionChoice, Selected, select_composition, select_revision
from crossply.control.definitions.defined_kinds import Waiting
from crossply.control.kinds import COMPOSITION, REVISION
from crossply.kinds.composition import Composition, parse_composition
from crossply.kinds.definition import Definition
from crossply.kinds.revision import COMPOSITION_NAME, CompositionRevision, parse_revision
from crossply.kube.cache import Cache
from crossply.kube.kind import Kind
from crossply.kube.watch import Key
from crossply.values import Object

UNCHECKED_SECONDS = 30.0
"""How long the functions of a new CompositionRevision may take to be checked before that is a failure."""
FETCH = "cannot fetch Composition"


class Compositions:
    """Compositions and their revisions, parsed once for every version of them."""

    def __init__(self, compositions: Cache, revisions: Cache) -> None:
        self._compositions = compositions
        self._revisions = revisions
        self._parsed: dict[str, tuple[str, Composition]] = {}
        self._recipes: dict[str, tuple[str, CompositionRevision, Recipe]] = {}

    def subscribe(self, subscriber: Callable[[str, str], None]) -> Callable[[], None]:
        """Call `subscriber` with the names of a Composition and, unless empty, of its revision that changed.

        A Composition counts once it has a revision, and that once its functions were checked: nobody can use
        either before. Returns how to stop it.
        """

        def notice_composition(change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
            # A change of it that matters makes a revision. Its revision may be known before itself.
            if new is None or (old is None and self._has_revision(key[1])):
                subscriber(key[1], "")

        def notice_revision(change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
            if new is None or self._known(new)[0].is_checked:
                subscriber(_composition_of(new or old or b"{}"), key[1])

        stops = (
            self._compositions.subscribe(notice_composition),
            self._revisions.subscribe(notice_revision),
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
                (self._parse(data) for data in self._compositions.objects()),
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
        choices = []
        for data in self._revisions.objects():
            revision, _ = self._known(data)
            if revision.composition == composition:
                choices.append(RevisionChoice(revision.name, revision.number, revision.labels))
        try:
            return select_revision(xr, machinery, choices)
        except SelectionError as problem:
            raise problem.within(FETCH) from None

    def recipe(self, name: str, now: str) -> Recipe:
        """What a revision composes by; raises Waiting for a new one whose functions are being checked."""
        data = self._revisions.get("", name)
        if data is None:
            raise _not_found(REVISION, name)
        revision, recipe = self._known(data)
        if revision.is_valid:
            return recipe
        if not revision.is_checked and _age(data, now) < UNCHECKED_SECONDS:
            raise Waiting(f"waiting for the functions of CompositionRevision {name} to be checked")
        raise SelectionError(
            f"selected CompositionRevision {name} does not have a valid function pipeline: "
            f"{revision.invalid_because}"
        )

    def _has_revision(self, composition: str) -> bool:
        known = (self._known(data)[0] for data in self._revisions.objects())
        return any(each.composition == composition and each.is_checked for each in known)

    def _parse(self, data: bytes) -> Composition:
        obj = orjson.loads(data)
        metadata = obj["metadata"]
        known = self._parsed.get(metadata["uid"])
        if known is None or known[0] != metadata["resourceVersion"]:
            known = self._parsed[metadata["uid"]] = (metadata["resourceVersion"], parse_composition(obj))
        return known[1]

    def _known(self, data: bytes) -> tuple[CompositionRevision, Recipe]:
        obj = orjson.loads(data)
        metadata = obj["metadata"]
        known = self._recipes.get(metadata["name"])
        if known is None or known[0] != metadata["resourceVersion"]:
            revision = parse_revision(obj)
            known = (metadata["resourceVersion"], revision, _recipe_of(revision))
            self._recipes[metadata["name"]] = known
        return known[1], known[2]


def is_pinned(xr: Object, machinery: Machinery) -> bool:
    """Whether a composite resource keeps to the revision that it names."""
    manual = machinery.read(xr, "compositionUpdatePolicy") == "Manual"
    return manual and bool(machinery.name_in(xr, "compositionRevisionRef"))


def default_revision_selector(xr: Object, machinery: Machinery, definition: Definition) -> Object | None:
    """The definition's revision selector, for who has neither a selector nor a revision yet."""
    labels = definition.default_revision_selector
    if labels is None or machinery.name_in(xr, "compositionRevisionRef"):
        return None
    if machinery.read(xr, "compositionRevisionSelector") is not None:
        return None
    return {"matchLabels": labels}


def _not_found(kind: Kind, name: str) -> SelectionError:
    return SelectionError(f'{FETCH}: cannot get {kind.kind}: {kind.kind}.{kind.group} "{name}" not found')


def _composition_of(revision: bytes) -> str:
    metadata = orjson.loads(revision).get("metadata") or {}
    return str((metadata.get("labels") or {}).get(COMPOSITION_NAME, ""))


def _age(data: bytes, now: str) -> float:
    created = orjson.loads(data)["metadata"].get("creationTimestamp")
    if not created:
        return 0.0
    return (datetime.fromisoformat(now) - datetime.fromisoformat(created)).total_seconds()


def _recipe_of(revision: CompositionRevision) -> Recipe:
    pipeline = revision.pipeline
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
