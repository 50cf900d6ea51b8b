"""Which Composition and which revision a composite resource gets, from what the caches hold."""

from __future__ import annotations

import random
from typing import NamedTuple

import orjson

from crossply.compose.errors import SelectionError
from crossply.compose.machinery import Machinery
from crossply.compose.recipe import Recipe, prepare
from crossply.compose.selection import RevisionChoice, Selected, select_composition, select_revision
from crossply.kinds.composition import Composition, parse_composition
from crossply.kinds.definition import Definition
from crossply.kinds.revision import COMPOSITION_NAME, CompositionRevision, parse_revision
from crossply.kube.cache import Cache
from crossply.values import Object


class Choice(NamedTuple):
    """What a composite resource is composed by."""

    composition: Selected
    revision: Selected
    recipe: Recipe
    revision_selector: Object | None = None
    """The definition's, where the composite resource gets it now."""


class Compositions:
    """Compositions and their revisions, parsed once for every version of them."""

    def __init__(self, compositions: Cache, revisions: Cache) -> None:
        self._compositions = compositions
        self._revisions = revisions
        self._parsed: dict[str, tuple[str, Composition]] = {}
        self._recipes: dict[str, tuple[str, CompositionRevision, Recipe]] = {}

    def choose(self, xr: Object, machinery: Machinery, definition: Definition) -> Choice:
        """The Composition, then its revision, ready to run."""
        selected = self._composition(xr, machinery, definition)
        if self._compositions.get("", selected.name) is None:
            raise SelectionError(
                f"cannot fetch Composition: cannot get Composition: compositions.apiextensions.crossplane.io "
                f'"{selected.name}" not found'
            )
        selector = _default_selector(xr, machinery, definition)
        if selector is not None:
            xr = machinery.with_field(xr, "compositionRevisionSelector", selector)
        if machinery.read(xr, "compositionUpdatePolicy") is None:
            # The API server adds it once there is anything of the engine in the spec.
            xr = machinery.with_field(xr, "compositionUpdatePolicy", definition.default_update_policy)
        revision = self._revision(xr, machinery, selected.name)
        return Choice(selected, revision, self._recipe(revision.name), selector)

    def _composition(self, xr: Object, machinery: Machinery, definition: Definition) -> Selected:
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

    def _parse(self, data: bytes) -> Composition:
        obj = orjson.loads(data)
        metadata = obj["metadata"]
        known = self._parsed.get(metadata["uid"])
        if known is None or known[0] != metadata["resourceVersion"]:
            known = self._parsed[metadata["uid"]] = (metadata["resourceVersion"], parse_composition(obj))
        return known[1]

    def _revision(self, xr: Object, machinery: Machinery, composition: str) -> Selected:
        choices = []
        for data in self._revisions.objects():
            revision, _ = self._known(data)
            if revision.labels.get(COMPOSITION_NAME) == composition:
                choices.append(RevisionChoice(revision.name, revision.number, revision.labels))
        try:
            return select_revision(xr, machinery, choices)
        except SelectionError as problem:
            raise problem.within("cannot fetch Composition") from None

    def _known(self, data: bytes) -> tuple[CompositionRevision, Recipe]:
        obj = orjson.loads(data)
        metadata = obj["metadata"]
        known = self._recipes.get(metadata["name"])
        if known is None or known[0] != metadata["resourceVersion"]:
            revision = parse_revision(obj)
            known = (metadata["resourceVersion"], revision, _recipe_of(revision))
            self._recipes[metadata["name"]] = known
        return known[1], known[2]

    def _recipe(self, name: str) -> Recipe:
        data = self._revisions.get("", name)
        if data is None:
            raise SelectionError(
                f'cannot fetch Composition: cannot get CompositionRevision: "{name}" not found'
            )
        revision, recipe = self._known(data)
        if not revision.is_valid:
            raise SelectionError(
                f"selected CompositionRevision {name} does not have a valid function pipeline: "
                f"{revision.invalid_because}"
            )
        return recipe


def _default_selector(xr: Object, machinery: Machinery, definition: Definition) -> Object | None:
    """The definition's revision selector, for who has neither a selector nor a revision yet."""
    labels = definition.default_revision_selector
    if labels is None or machinery.name_in(xr, "compositionRevisionRef"):
        return None
    if machinery.read(xr, "compositionRevisionSelector") is not None:
        return None
    return {"matchLabels": labels}


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
