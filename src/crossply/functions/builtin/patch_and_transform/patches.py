"""One patch as a closure: read, change, write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.functions.builtin.patch_and_transform.access import (
    Read,
    Write,
    reader,
    settled,
    writer,
    writer_to_all,
)
from crossply.functions.builtin.patch_and_transform.dialect import Dialect, merge_options
from crossply.functions.builtin.patch_and_transform.failure import Failure, failing, wrap
from crossply.functions.builtin.patch_and_transform.formatting import formatter
from crossply.functions.builtin.patch_and_transform.identity import require_kind
from crossply.functions.builtin.patch_and_transform.patch_types import (
    COMBINE_TYPES,
    FROM_COMPOSITE,
    Route,
    patch_type,
    target_path,
)
from crossply.functions.builtin.patch_and_transform.transforms.chain import Change, chain
from crossply.functions.reply_limits import MAX_DEPTH
from crossply.values import Object, paths
from crossply.values.structs import from_wire

Apply = Callable[[Object, Object], Any]


class Patch(NamedTuple):
    """A patch that is ready to run."""

    type: str
    source: int
    target: int
    policy: str
    """What to do when the source field is not there: Optional or Required."""

    apply: Apply
    """Carry the value from one object to another and return it; raises Failure or an error of `values`."""

    copies_xr: bool
    """Whether the value is a part of the XR as it is: no larger than the XR."""


def make_patch(patch: Object, routes: dict[str, Route], dialect: Dialect) -> Patch:
    """Make a patch that is ready to run."""
    kind = patch_type(patch)
    source, target = routes[kind]
    policy = patch.get("policy", {}).get("fromFieldPath", "Optional")
    copies_xr = source == FROM_COMPOSITE and _is_plain(patch)
    return Patch(kind, source, target, policy, make_apply(patch, dialect), copies_xr)


def _is_plain(patch: Object) -> bool:
    """Whether a patch writes what it reads, once, in place of what was there."""
    changes = patch.get("transforms") or set(patch.get("policy", {})) - {"fromFieldPath"}
    return not changes and "[*]" not in target_path(patch)


def make_apply(patch: Object, dialect: Dialect) -> Apply:
    """Make the closure that carries a patch's value from one object to another."""
    change = chain(patch.get("transforms", []), dialect)
    write = _writer(patch, dialect)
    if patch_type(patch) in COMBINE_TYPES:
        return _combine(patch["combine"], change, write, dialect)
    return _copy(_reader(patch.get("fromFieldPath", ""), dialect), change, write)


def _copy(read: Read, change: Change | None, write: Write) -> Apply:
    if change is not None:
        return _transform(read, change, write)

    def apply(source: Object, target: Object) -> Any:
        value = read(source)
        return write(target, value if type(value) is str else settled(value))

    return apply


def _transform(read: Read, change: Change, write: Write) -> Apply:
    def apply(source: Object, target: Object) -> Any:
        value = read(source)
        return write(target, settled(change(value)))

    return apply


def _combine(combine: Object, change: Change | None, write: Write, dialect: Dialect) -> Apply:
    variables = [
        _reader(variable.get("fromFieldPath", ""), dialect) for variable in combine.get("variables", [])
    ]
    combined = formatter(combine["string"].get("fmt", ""), len(variables))

    def apply(source: Object, target: Object) -> Any:
        value: Any = combined([read(source) for read in variables])
        if change is not None:
            value = change(value)
        return write(target, _settled_late(value))

    return apply


def _settled_late(value: Any) -> Any:
    # A combined value meets JSON only as it is written, and a complaint says so.
    try:
        return settled(value)
    except Failure as reason:
        raise wrap("cannot patch to object", reason) from None


def _reader(path: str, dialect: Dialect) -> Read:
    read = reader(path)
    if not dialect.native_numbers:
        return read
    return lambda obj: from_wire(read(obj))


def _writer(patch: Object, dialect: Dialect) -> Write:
    options = merge_options(patch, dialect)
    if isinstance(options, str):
        return failing(f"invalid patch policy {options}")
    path = target_path(patch)
    if _is_too_deep(path):
        return failing(f"toFieldPath is deeper than {MAX_DEPTH} levels")
    # Wildcards of a combined patch are not expanded: they are taken for the name of a field.
    if "[*]" in path and patch_type(patch) not in COMBINE_TYPES:
        return _checked(writer_to_all(path, options), path, "")
    return _checked(writer(path, options), path, "cannot patch to object: ")


def _is_too_deep(path: str) -> bool:
    try:
        return len(paths.parse(path)) > MAX_DEPTH
    except paths.PathError:
        return False  # it is reported by whoever uses the path


def _checked(write: Write, path: str, said: str) -> Write:
    """Write, and see that the target has a kind: an object without one cannot be decoded."""
    touches_type = path.lstrip("['\"").startswith(("apiVersion", "kind"))

    def write_and_check(target: Object, value: Any) -> Any:
        written = write(target, value)
        if touches_type or not target.get("kind"):
            _require_kind(target, said)
        return written

    return write_and_check


def _require_kind(target: Object, said: str) -> None:
    try:
        require_kind(target)
    except Failure as reason:
        raise Failure(f"{said}{reason}") from None
