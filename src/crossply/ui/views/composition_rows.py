"""The list of Compositions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crossply.compose.metadata import metadata_of, name_of
from crossply.ui.object_state import seconds
from crossply.ui.views.health import BAD, OK, Health
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
