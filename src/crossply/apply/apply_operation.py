"""Server-side apply: merge a configuration, prune what it no longer has, and record its manager as owner.

Client-side `kubectl apply` records what was applied in an annotation. Fields in the annotation that are
unchanged since belong to kubectl: they are no conflicts. The annotation is kept up to date, so that users can
go back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.apply.compare import compare, same
from crossply.apply.configuration_field_set import owned_fields
from crossply.apply.errors import ApplyError, BadApplyRequest, NotTyped
from crossply.apply.field_sets import FieldSet, contains, difference
from crossply.apply.managed_fields import (
    Managers,
    applier,
    decode,
    entries_of,
    with_entries,
    without_entries,
)
from crossply.apply.object_identity_check import kind_text, named
from crossply.apply.ownership import Conflict, Conflicted, conflict_error, own_by_applying
from crossply.apply.request_scope import Scope
from crossply.apply.update_operation import NEVER_OWNED, empty, recorded
from crossply.apply.validate import check, check_with_duplicates
from crossply.values import Object, gojson

_BEFORE = "before-first-apply"
_KUBECTL = "kubectl"
_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
_MOST_ANNOTATED = 256 * 1024


class Applied(NamedTuple):
    """The result of an apply: the object with its managedFields, and whether anything but those changed."""

    object: Object
    changed: bool


def apply(
    live: Object | None, patch: Object, scope: Scope, manager: str, now: str, force: bool = False
) -> Applied:
    """Apply a configuration to an object, or to nothing when it does not exist yet.

    `live` is in the version of the scope; the result still has to be defaulted and validated by the caller.
    Raises ApplyConflict when others own what would change, unless forced, and other ApplyErrors.
    """
    try:
        return _apply(empty(scope) if live is None else live, patch, scope, manager, now, force)
    except RecursionError:
        raise NotTyped("failed to create typed patch object: the object is nested too deeply") from None


def _apply(live: Object, patch: Object, scope: Scope, manager: str, now: str, force: bool) -> Applied:
    try:
        managers = decode(entries_of(live))
    except ApplyError as error:
        raise error.within("failed to decode managed fields") from None
    _check_request(patch, scope)
    live, patch = without_entries(live), without_entries(patch)
    managers = managers or _first_managers(live, scope, now)
    _check_typed(live, patch, scope)
    try:
        result = _merged(live, patch, managers, scope, manager, now, force)
    except Conflicted as conflicted:
        left = conflicted.conflicts
        if manager == _KUBECTL:
            left = _real_conflicts(left, live, scope)
        if left:
            raise conflict_error(left) from None
        result = _merged(live, patch, managers, scope, manager, now, True)
    if manager == _KUBECTL:
        return Applied(_annotated(result.object, patch), result.changed)
    return result


def _merged(
    live: Object, patch: Object, managers: Managers, scope: Scope, manager: str, now: str, force: bool
) -> Applied:
    identity = applier(manager, scope.subresource)
    new, managers = own_by_applying(live, patch, managers, identity, scope, force)
    changed = new is not live and not same(live, new)
    previous = managers.pop(identity, None)
    if previous is not None:
        fields = difference(previous.fields, NEVER_OWNED)
        if fields:
            # Time moves with the object: applying what is already so leaves it alone.
            managers[identity] = previous._replace(fields=fields, time=now if changed else previous.time)
    return Applied(with_entries(new if changed else live, managers), changed)


def _check_request(patch: Object, scope: Scope) -> None:
    if patch.get("apiVersion") != scope.api_version or patch.get("kind") != scope.kind:
        raise BadApplyRequest(f"invalid object type: {kind_text(patch)}")
    if entries_of(patch) is not None:
        raise BadApplyRequest("metadata.managedFields must be nil")


def _first_managers(live: Object, scope: Scope, now: str) -> Managers:
    """Record existing fields under a manager of their own, so that an apply does not take them silently."""
    try:
        return recorded(empty(scope), live, {}, scope, _BEFORE, now)
    except ApplyError as error:
        raise error.within("failed to create manager for existing fields") from None


def _check_typed(live: Object, patch: Object, scope: Scope) -> None:
    try:
        check(patch, scope.type)
    except NotTyped as error:
        raise error.within(f"failed to create typed patch object ({named(patch)})") from None
    try:
        check_with_duplicates(live, scope.type)
    except NotTyped as error:
        raise error.within(f"failed to create typed live object ({named(live)})") from None


def _real_conflicts(conflicts: list[Conflict], live: Object, scope: Scope) -> list[Conflict]:
    """Return the conflicts on fields that the annotation does not list."""
    own = _fields_of_kubectl(live, scope)
    return [conflict for conflict in conflicts if not contains(own, conflict.path)]


def _fields_of_kubectl(live: Object, scope: Scope) -> FieldSet:
    text = _annotations(live).get(_ANNOTATION)
    try:
        last = gojson.loads(text) if text else None
        if last.__class__ is not dict or last.get("apiVersion") != scope.api_version:
            return {}
        bare = without_entries(live)
        check(bare, scope.type)
        check(last, scope.type)
    except (gojson.JsonError, ApplyError):
        return {}
    fields = owned_fields(last, scope.type)
    for changed in compare(last, bare, scope.type):
        fields = difference(fields, changed)
    return fields


def _annotated(object_: Object, config: Object) -> Object:
    """Return an object with the annotation updated, if it has the annotation."""
    annotations = _annotations(object_)
    if not annotations.get(_ANNOTATION):
        return object_
    rest = {name: value for name, value in annotations.items() if name != _ANNOTATION}
    annotations = {**rest, _ANNOTATION: _annotation_text(config)}
    size = sum([len(name.encode()) + len(str(value).encode()) for name, value in annotations.items()])
    written = annotations if size <= _MOST_ANNOTATED else rest
    return {**object_, "metadata": {**object_["metadata"], "annotations": written}}


def _annotation_text(config: Object) -> str:
    metadata = config.get("metadata")
    if metadata.__class__ is dict and metadata.get("annotations").__class__ is dict:
        rest = {name: value for name, value in metadata["annotations"].items() if name != _ANNOTATION}
        config = {**config, "metadata": {**metadata, "annotations": rest}}
    return gojson.dumps(config) + "\n"


def _annotations(object_: Object) -> dict[str, Any]:
    metadata = object_.get("metadata")
    annotations = metadata.get("annotations") if metadata.__class__ is dict else None
    return annotations if annotations.__class__ is dict else {}
