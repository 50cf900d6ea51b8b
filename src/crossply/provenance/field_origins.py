"""The sources of a field that a later step reads, as sources of what that step makes of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from crossply.functions.builtin.object_field_traces import as_conditions, is_near
from crossply.functions.field_provenance import (
    CONDITION,
    ENVIRONMENT_DATA,
    EXTRA_RESOURCE,
    KEYS,
    VALUE,
    Path,
    SourceField,
)
from crossply.provenance.model import FieldSource
from crossply.values.field_path import PathError, parse, to_string

Fields = Mapping[Path, FieldSource]


def origins_of(use: str, path: Path, fields: Fields) -> Iterator[tuple[SourceField, ...]]:
    """The sources of what an object has at a path, for a field of a later step that uses it."""
    near = {at: known for at, known in fields.items() if is_near(at, path)}
    if not near:
        yield from _absent(use, path, fields)
    # An environment is merged of several configs: not everything below a field is from the same one.
    is_one_resource = all(known.how == EXTRA_RESOURCE for known in near.values())
    for at, known in near.items():
        below = at[len(path) :]
        if use == KEYS and known.how in (EXTRA_RESOURCE, ENVIRONMENT_DATA):
            yield _with_parts(known.sources, below, KEYS)
        elif use != VALUE:
            yield as_conditions(known.sources)
        elif is_one_resource:
            yield _with_parts(known.sources, below, VALUE)
        else:
            yield known.sources
    if use == KEYS:
        yield from _selections({_root(at, known) for at, known in near.items()}, fields)


def _root(at: Path, known: FieldSource) -> Path | None:
    """Where the resource is that a field is copied from; None for a field that is not from one."""
    copied = next((source for source in known.sources if source.use == VALUE), None)
    if known.how != EXTRA_RESOURCE or copied is None:
        return None
    return at[: len(at) - len(_parsed(copied))]


def _selections(roots: Collection[Path | None], fields: Fields) -> Iterator[tuple[SourceField, ...]]:
    """What decides that resources are there, from all of their fields: a field does not list itself twice."""
    for at, known in fields.items():
        root = _root(at, known)
        if root is not None and root in roots:
            yield tuple(source for source in known.sources if source.use != VALUE)


def _with_parts(sources: tuple[SourceField, ...], below: Path, use: str) -> tuple[SourceField, ...]:
    """The sources of a copied field, for a part of the copy that has the field at the path `below`.

    The part is one field of the copied object. If it has several objects, only what selected them decides
    about its keys.
    """
    parts = (_part(source, below, use) if source.use == VALUE else source for source in sources)
    return tuple(part for part in parts if part is not None)


def _part(source: SourceField, below: Path, use: str) -> SourceField | None:
    path = _parsed(source)
    length = len(path) - len(below)
    if length < 0:
        return None if use == KEYS else source._replace(path="")
    if path[length:] != below:
        return source._replace(use=CONDITION if use == KEYS else VALUE)
    return source._replace(path=to_string(path[:length]), use=use)


def _absent(use: str, path: Path, fields: Fields) -> Iterator[tuple[SourceField, ...]]:
    """The field that a copied resource does not have at a path, and what selected the resource."""
    for at, known in fields.items():
        root = _root(at, known)
        if root is not None and len(path) > len(root) and path[: len(root)] == root:
            name = next(source.object for source in known.sources if source.use == VALUE)
            yield (SourceField(name, to_string(path[len(root) :]), use),)
            yield from _selections((root,), fields)
            return


def _parsed(source: SourceField) -> Path:
    try:
        return tuple(parse(source.path))
    except PathError:
        return (source.path,)  # a key that field paths cannot spell
