"""The fields of an object one by one: value, who manages it, and where the pipeline took it from. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from crossply.compose.metadata import metadata_of, text_in
from crossply.provenance.model import FieldSource, Provenance
from crossply.values import Object

MOST_FIELDS = 500
_SECTIONS = ("metadata", "spec", "data", "status")
_METADATA = ("labels", "annotations")


class Field(NamedTuple):
    path: str
    value: Any
    manager: str
    """Who applied or updated it last; empty where that is not known."""
    source: FieldSource | None


def fields_of(obj: Object, resource_name: str, provenance: Provenance | None) -> list[Field]:
    """The fields of labels, annotations, spec, data and status, at most MOST_FIELDS."""
    managers = managers_of(obj)
    fields = []
    for path, value in _leaves(obj):
        source = None if provenance is None else provenance.of(resource_name, path)
        fields.append(Field(path, value, _manager(managers, path), source))
        if len(fields) >= MOST_FIELDS:
            break
    return fields


def _leaves(obj: Object) -> Iterator[tuple[str, Any]]:
    metadata = metadata_of(obj)
    shown = {key: metadata[key] for key in _METADATA if key in metadata}
    sections = {**obj, "metadata": shown}
    for section in (*_SECTIONS, *sorted(set(obj) - {*_SECTIONS, "apiVersion", "kind"})):
        if section in sections:
            yield from _below(section, sections[section])


def _below(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if type(value) is dict and value:
        for key, item in value.items():
            yield from _below(f"{path}{segment(key)}", item)
    elif type(value) is list and value:
        for index, item in enumerate(value):
            yield from _below(f"{path}[{index}]", item)
    else:
        yield path, value


def segment(key: str) -> str:
    """A key as field paths write it."""
    return f"[{key}]" if not key or any(character in key for character in ".[]/") else f".{key}"


def managers_of(obj: Object) -> dict[str, str]:
    """The manager of each field that managed fields name; of several, the one that is listed last."""
    entries = metadata_of(obj).get("managedFields")
    managers: dict[str, str] = {}
    for entry in entries if type(entries) is list else ():
        if type(entry) is dict and type(entry.get("fieldsV1")) is dict:
            _collect(entry["fieldsV1"], "", text_in(entry, "manager"), managers)
    return managers


def _collect(fields: Object, path: str, manager: str, managers: dict[str, str]) -> None:
    for key, below in fields.items():
        if not key.startswith("f:"):
            # Items of lists are named by their keys or values, which field paths do not know.
            if path:
                managers[path] = manager
            continue
        name = segment(key[2:]) if path else key[2:]
        managers[path + name] = manager
        if type(below) is dict:
            _collect(below, path + name, manager, managers)


def _manager(managers: dict[str, str], path: str) -> str:
    while path:
        if path in managers:
            return managers[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return ""
