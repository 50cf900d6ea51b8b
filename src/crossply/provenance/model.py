"""The answer to "where does this field come from": one `FieldSource` for each field of each resource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crossply.functions.field_provenance import SourceField
from crossply.values.field_path import PathError, parse, to_string

__all__ = ["COMPOSITE_STATUS", "FieldSource", "FieldSources", "Provenance", "SourceField"]

COMPOSITE_STATUS = ""
"""The name of the composite resource itself among the resources of a Provenance."""


@dataclass(frozen=True, slots=True)
class FieldSource:
    """Who set a field: the last step that did, and how.

    `how` is a text: "base", "patch 2 (FromCompositeFieldPath)", "template, line 14", "function".
    `where` is for programs: the patch or template line in the step's input. `before` are earlier
    steps that set the same field, the latest first.
    """

    step: str
    function: str
    how: str
    where: str
    sources: tuple[SourceField, ...] = ()
    before: tuple[FieldSource, ...] = ()

    def to_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "step": self.step,
            "function": self.function,
            "how": self.how,
            "where": self.where,
            "sources": [source._asdict() for source in self.sources],
        }
        if self.before:
            shown["before"] = [source.to_json() for source in self.before]
        return shown


FieldSources = Mapping[str, FieldSource]
"""The sources of the fields of one object, by field path: `spec.tags[0].key`."""


class Provenance(Mapping[str, FieldSources]):
    """The sources of all fields by the name of the composed resource; "" is the composite resource."""

    __slots__ = ("_resources",)

    def __init__(self, resources: Mapping[str, FieldSources]) -> None:
        self._resources = resources

    def __getitem__(self, resource: str) -> FieldSources:
        return self._resources[resource]

    def __iter__(self) -> Iterator[str]:
        return iter(self._resources)

    def __len__(self) -> int:
        return len(self._resources)

    def of(self, resource: str, path: str) -> FieldSource | None:
        """The source of a field, or of the nearest field above it; None when the pipeline did not set it."""
        fields = self._resources.get(resource, {})
        if path in fields:
            return fields[path]
        try:
            segments = parse(path)
        except PathError:
            return None
        for length in range(len(segments), 0, -1):
            source = fields.get(to_string(segments[:length]))
            if source is not None:
                return source
        return None

    def to_json(self) -> dict[str, Any]:
        return {
            name: {path: source.to_json() for path, source in fields.items()}
            for name, fields in self._resources.items()
        }
