"""Patches, each compiled into a closure: read, transform, write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.patch_and_transform.dialect import (
    COMBINE_TYPES,
    FROM_COMPOSITE,
    Dialect,
    Route,
    Transform,
    merge_options,
    patch_type,
    target_path,
)
from crossply.functions.builtin.patch_and_transform.errors import Failure, fail_with, wrap
from crossply.functions.builtin.patch_and_transform.object_fields import (
    Read,
    Write,
    normalized,
    reader,
    wildcard_writer,
    writer,
)
from crossply.functions.builtin.patch_and_transform.text_formatting import formatter
from crossply.functions.builtin.patch_and_transform.transforms import chain_transforms
from crossply.functions.reply_limits import MAX_DEPTH
from crossply.values import Object
from crossply.values import field_path as paths
from crossply.values.protobuf_struct import from_wire

Apply = Callable[[Object, Object], Any]


class Patch(NamedTuple):
    """A compiled patch."""

    type: str
    source: int
    target: int
    policy: str
    """`fromFieldPath` policy for a missing source field: Optional or Required."""

    apply: Apply
    """Copies the value from source to target and returns it; raises Failure or an error of `values`."""

    copies_xr: bool
    """Whether the value is an unchanged part of the XR, so no larger than the XR."""


def compile_patch(patch: Object, routes: dict[str, Route], dialect: Dialect) -> Patch:
    kind = patch_type(patch)
    source, target = routes[kind]
    policy = patch.get("policy", {}).get("fromFieldPath", "Optional")
    copies_xr = source == FROM_COMPOSITE and _is_plain(patch)
    return Patch(kind, source, target, policy, compile_apply(patch, dialect), copies_xr)


def _is_plain(patch: Object) -> bool:
    """Whether a patch writes what it reads, once, and replaces the target field."""
    changes = patch.get("transforms") or set(patch.get("policy", {})) - {"fromFieldPath"}
    return not changes and "[*]" not in target_path(patch)


def compile_apply(patch: Object, dialect: Dialect) -> Apply:
    """Compile the closure that copies the value of a patch from one object to another."""
    transform = chain_transforms(patch.get("transforms", []), dialect)
    write = _writer(patch, dialect)
    if patch_type(patch) in COMBINE_TYPES:
        return _combine(patch["combine"], transform, write, dialect)
    return _copy(_reader(patch.get("fromFieldPath", ""), dialect), transform, write)


def _copy(read: Read, transform: Transform | None, write: Write) -> Apply:
    if transform is not None:
        return _transform(read, transform, write)

    def apply(source: Object, target: Object) -> Any:
        value = read(source)
        return write(target, value if type(value) is str else normalized(value))

    return apply


def _transform(read: Read, transform: Transform, write: Write) -> Apply:
    def apply(source: Object, target: Object) -> Any:
        value = read(source)
        return write(target, normalized(transform(value)))

    return apply


def _combine(combine: Object, transform: Transform | None, write: Write, dialect: Dialect) -> Apply:
    variables = [
        _reader(variable.get("fromFieldPath", ""), dialect) for variable in combine.get("variables", [])
    ]
    combined = formatter(combine["string"].get("fmt", ""), len(variables))

    def apply(source: Object, target: Object) -> Any:
        value: Any = combined([read(source) for read in variables])
        if transform is not None:
            value = transform(value)
        return write(target, _normalized_combined(value))

    return apply


def _normalized_combined(value: Any) -> Any:
    # A combined value is encoded as JSON only when it is written, and the error says so.
    try:
        return normalized(value)
    except Failure as error:
        raise wrap("cannot patch to object", error) from None


def _reader(path: str, dialect: Dialect) -> Read:
    read = reader(path)
    if not dialect.native_numbers:
        return read
    return lambda obj: from_wire(read(obj))


def _writer(patch: Object, dialect: Dialect) -> Write:
    options = merge_options(patch, dialect)
    if isinstance(options, str):
        return fail_with(f"invalid patch policy {options}")
    path = target_path(patch)
    if _is_too_deep(path):
        return fail_with(f"toFieldPath is deeper than {MAX_DEPTH} levels")
    # Wildcards of a combined patch are not expanded: they count as a field name.
    if "[*]" in path and patch_type(patch) not in COMBINE_TYPES:
        return wildcard_writer(path, options)
    return writer(path, options)


def _is_too_deep(path: str) -> bool:
    try:
        return len(paths.parse(path)) > MAX_DEPTH
    except paths.PathError:
        return False  # reported by the code that uses the path
