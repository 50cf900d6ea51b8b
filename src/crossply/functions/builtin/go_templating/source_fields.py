"""Fields of the template's data as fields of the objects that they come from."""

from __future__ import annotations

from crossply.functions.builtin.go_templating.engine.taints import Atom, Taint
from crossply.functions.field_provenance import (
    COMPOSITE,
    CONDITION,
    CONTEXT,
    DESIRED_COMPOSITE,
    ENVIRONMENT,
    ENVIRONMENT_KEY,
    REQUEST,
    VALUE,
    Path,
    SourceField,
)
from crossply.values.field_path import to_string


def source_fields(value: Taint, control: Taint) -> tuple[SourceField, ...]:
    """The sources of a field: first those of its value, then those that decide about it."""
    conditions = {atom for atom in control if atom not in value}
    fields = [_source(atom, VALUE) for atom in sorted(value, key=_order)]
    fields += [_source(atom, CONDITION) for atom in sorted(conditions, key=_order)]
    return tuple(dict.fromkeys(field for field in fields if field is not None))


def _order(atom: Atom) -> list[str]:
    return [*map(str, atom.path), atom.use]


def _source(atom: Atom, use: str) -> SourceField | None:
    """The object and the path of a field; None for what the Composition itself says."""
    if atom.path[:1] in (("input",), ("meta",)):
        return None
    name, path = _object(atom.path)
    return SourceField(name, to_string(path), use if atom.use == VALUE else atom.use)


def _object(path: Path) -> tuple[str, Path]:
    if len(path) > 1 and path[0] == "context":
        return (ENVIRONMENT, path[2:]) if path[1] == ENVIRONMENT_KEY else (CONTEXT, path[1:])
    if path[:2] == ("observed", "composite"):
        return _resource(COMPOSITE, path[2:])
    if path[:2] == ("desired", "composite"):
        return _resource(DESIRED_COMPOSITE, path[2:])
    if len(path) > 2 and path[0] in ("observed", "desired") and path[1] == "resources":
        return _resource(f"{path[0]}/{path[2]}", path[3:])
    if len(path) > 1 and path[0] in ("requiredResources", "extraResources"):
        return f"extra/{path[1]}", path[3:]
    if len(path) > 1 and path[0] == "credentials":
        return f"credentials/{path[1]}", ()
    return REQUEST, path


def _resource(name: str, path: Path) -> tuple[str, Path]:
    if path[:1] == ("connectionDetails",):
        return f"connection details of {name}", path[1:]
    return name, path[1:]
