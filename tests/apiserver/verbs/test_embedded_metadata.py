"""Metadata of embedded objects has the fields of metadata and no others."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.apiserver.endpoints.metadata_decoding import MetadataReader

EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True}
SCHEMA = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,
    "properties": {
        "one": EMBEDDED,
        "list": {"type": "array", "items": EMBEDDED},
        "map": {"type": "object", "additionalProperties": EMBEDDED},
        "plain": {"type": "object"},
    },
}
STRANGE = {"metadata": {"name": "x", "strange": 1}}
CLEAN = {"metadata": {"name": "x"}}


@pytest.mark.parametrize(
    ("value", "read", "unknown"),
    [
        ({"one": STRANGE}, {"one": CLEAN}, ["one.metadata.strange"]),
        ({"list": [CLEAN, STRANGE]}, {"list": [CLEAN, CLEAN]}, ["list[1].metadata.strange"]),
        ({"map": {"a": STRANGE}}, {"map": {"a": CLEAN}}, ["map.a.metadata.strange"]),
        ({"plain": STRANGE, **STRANGE}, {"plain": STRANGE, **STRANGE}, []),  # not marked as embedded
        (
            {"one": {"metadata": {"labels": {}, "namespace": ""}}},
            {"one": {"metadata": {}}},
            [],
        ),  # as Go writes
        ({"one": {"metadata": 1}}, {"one": {"metadata": 1}}, []),  # from the schema
    ],
)
def test_unknown_metadata_fields_are_removed_and_reported(
    value: dict[str, Any], read: dict[str, Any], unknown: list[str]
) -> None:
    reader = MetadataReader(frozenset({"name", "namespace", "labels"}))
    assert reader.read(value, SCHEMA) == read
    assert reader.unknown == unknown
