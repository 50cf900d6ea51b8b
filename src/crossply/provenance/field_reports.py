"""The fields of one object, each with its value, its source, and who manages it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.compose.object_metadata import metadata_of, text_in
from crossply.functions.builtin.object_field_traces import is_near, leaves
from crossply.functions.field_provenance import Path
from crossply.provenance.field_managers import FieldManager, managers_of
from crossply.provenance.model import COMPOSITE_STATUS, FieldSource, Provenance
from crossply.values import Object
from crossply.values.field_path import PathError, parse, to_string

ENGINE, API_SERVER, OTHERS = "engine", "API server", "others"
"""Who sets a field that no function desires: the engine, the API server, or another field manager."""

SECRET = "(secret)"
_BY_SERVER = ("uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp", "selfLink")
_BY_ENGINE = ("name", "generateName", "namespace", "ownerReferences", "finalizers")


class FieldReport(NamedTuple):
    """One field of an object; `by` says who set it where no step did."""

    path: str
    value: Any
    source: FieldSource | None
    by: str
    managers: tuple[FieldManager, ...] = ()

    def to_json(self) -> Object:
        shown: Object = {"path": self.path, "value": self.value}
        if self.source is not None:
            shown["source"] = self.source.to_json()
        else:
            shown["by"] = self.by
        if self.managers:
            shown["managers"] = [manager._asdict() for manager in self.managers]
        return shown


def report_fields(obj: Object, resource: str, provenance: Provenance, field: str = "") -> list[FieldReport]:
    """The fields of an object, at and below `field`. Values of Secrets are hidden."""
    managers = managers_of(obj)
    hides = text_in(obj, "kind") == "Secret"
    reports = []
    for path, value in sorted(_shown(obj, _parsed(field)), key=lambda leaf: list(map(str, leaf[0]))):
        text = to_string(path)
        source, by = provenance.of(resource, text), _set_by(path)
        if hides and path[0] == "data":
            source = _folded(provenance, resource, path) or source
        if by == ENGINE and text not in provenance.get(resource, {}):
            source = None  # put by the engine into a map of the pipeline
        if resource == COMPOSITE_STATUS and source is None and path[0] != "status" and not field:
            continue  # the user's own fields
        shown = SECRET if hides and path[0] in ("data", "stringData") else value
        reports.append(FieldReport(text, shown, source, by, managers.of(path)))
    return reports


def _folded(provenance: Provenance, resource: str, path: Path) -> FieldSource | None:
    """The source of a value of a Secret in `stringData`, which the API server folds into its data."""
    written = to_string(("stringData", *path[1:]))
    return provenance.get(resource, {}).get(written)


def resolve_items(path: str, obj: Object) -> str:
    """A path that names items of lists (`spec.containers[app].image`) with their indexes in an object."""
    resolved: list[str | int] = []
    value: Any = obj
    for segment in _parsed(path):
        at: str | int = segment
        if isinstance(value, list) and isinstance(segment, str):
            at = next((index for index, item in enumerate(value) if _is_called(item, segment)), segment)
        resolved.append(at)
        value = _get(value, at)
    return to_string(resolved)


def _is_called(item: Any, name: str) -> bool:
    return isinstance(item, dict) and name in (item.get("name"), item.get("type"))


def _get(value: Any, key: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return value[key]
    return None


def _shown(obj: Object, field: Path) -> Iterable[tuple[Path, Any]]:
    metadata = {key: value for key, value in metadata_of(obj).items() if key != "managedFields"}
    return ((path, value) for path, value in leaves({**obj, "metadata": metadata}) if is_near(path, field))


def _parsed(path: str) -> Path:
    try:
        return parse(path)
    except PathError:
        return (path,)


def _set_by(path: Path) -> str:
    if path[0] == "metadata" and len(path) > 1:
        if path[1] in _BY_SERVER:
            return API_SERVER
        if path[1] in _BY_ENGINE or (len(path) > 2 and str(path[2]).startswith("crossplane.io/")):
            return ENGINE
    if path[:2] == ("status", "conditions"):
        return ENGINE
    return OTHERS
