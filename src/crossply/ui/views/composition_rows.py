"""The list of Compositions, and the revisions of one with how many composite resources are on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crossply.compose.engine_field_paths import Machinery
from crossply.compose.object_metadata import metadata_of, name_of
from crossply.errors import CrossplyError
from crossply.kinds.composition_revision import parse_revision
from crossply.ui.object_state_and_row import seconds
from crossply.ui.views.object_health import BAD, OK, Health, condition_health
from crossply.ui.views.pipeline_picture import Picture, pipeline_picture
from crossply.values import Object


class CompositionRow(NamedTuple):
    """One Composition."""

    name: str
    kind: str
    api_version: str
    steps: tuple[str, ...]
    composites: int
    created: float
    health: Health


def composition_rows(
    compositions: Iterable[Object], functions: Mapping[str, Object], used: Counter[str]
) -> list[CompositionRow]:
    """One row a Composition, by kind and name; `used` counts composite resources by Composition."""
    rows = []
    for obj in compositions:
        picture = pipeline_picture(obj, functions)
        rows.append(
            CompositionRow(
                name_of(obj),
                picture.kind,
                picture.api_version,
                tuple(step.name for step in picture.steps),
                used[name_of(obj)],
                seconds(metadata_of(obj).get("creationTimestamp")),
                _health(picture),
            )
        )
    return sorted(rows, key=lambda row: (row.kind, row.name))


def _health(picture: Picture) -> Health:
    if picture.problem:
        return Health(BAD, "Unreadable", picture.problem)
    unwell = next((step for step in picture.steps if step.health.state != OK), None)
    if unwell is None:
        return Health(OK, "Functions healthy")
    word = f"{unwell.function}: {unwell.health.word.lower()}"
    return Health(unwell.health.state, word, unwell.health.message)


class RevisionRow(NamedTuple):
    """One revision."""

    name: str
    number: int
    created: float
    composites: int
    """How many composite resources are composed by it."""
    is_newest: bool
    health: Health
    object: Object


def revision_table(revisions: Iterable[Object], used: Counter[str]) -> list[RevisionRow]:
    """The rows of a Composition's revisions; `used` counts composite resources by revision name."""
    rows = []
    for obj in revisions:
        try:
            revision = parse_revision(obj)
        except CrossplyError:
            continue
        health = condition_health(obj, "ValidPipeline", "Valid", "Invalid")
        created = seconds(metadata_of(obj).get("creationTimestamp"))
        rows.append(
            RevisionRow(revision.name, revision.number, created, used[revision.name], False, health, obj)
        )
    rows.sort(key=lambda row: (row.number, row.created), reverse=True)
    return [row._replace(is_newest=index == 0) for index, row in enumerate(rows)]


def composites_by_revision(
    composites: Iterable[Object], composition: str, machinery: Machinery
) -> Counter[str]:
    """How many composite resources of a Composition are on each of its revisions; "" for none yet."""
    return Counter(
        machinery.name_in(xr, "compositionRevisionRef")
        for xr in composites
        if machinery.name_in(xr, "compositionRef") == composition
    )
