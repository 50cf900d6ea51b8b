"""Record who changed what when an object is created, replaced or patched.

Nothing here fails: a write that cannot be recorded is still a write, it only leaves the object without
records.
"""

from __future__ import annotations

from crossply.apply.errors import ApplyError
from crossply.apply.field_sets import FIELD, FieldSet, difference, union
from crossply.apply.managed_fields import (
    Managers,
    Owned,
    capped,
    decode,
    entries_of,
    is_reset,
    updater,
    with_entries,
    without_entries,
)
from crossply.apply.object_identity_check import named
from crossply.apply.ownership import own_by_updating
from crossply.apply.request_scope import Scope
from crossply.apply.validate import check_with_duplicates
from crossply.values import Object

# Fields that the server itself maintains; they have no owner.
NEVER_OWNED: FieldSet = {
    "f:apiVersion": FIELD,
    "f:kind": FIELD,
    "f:metadata": {
        ".": FIELD,
        "f:name": FIELD,
        "f:namespace": FIELD,
        "f:creationTimestamp": FIELD,
        "f:selfLink": FIELD,
        "f:uid": FIELD,
        "f:clusterName": FIELD,
        "f:generation": FIELD,
        "f:managedFields": FIELD,
        "f:resourceVersion": FIELD,
    },
}


def update(live: Object | None, new: Object, scope: Scope, manager: str, now: str) -> Object:
    """Return a new object with its managedFields as they are after `manager` wrote it.

    `live` is the object before (None when it is created), `new` what will be stored, both in the version of
    the scope. `now` is a time like 2024-05-01T10:00:00Z.
    """
    bare = without_entries(new)
    try:
        managers = _known(live, new, scope)
        if not managers and live is not None and (live.get("metadata") or {}).get("uid"):
            # Once forgotten, owners are only recorded again from the next apply on.
            return bare
        before = empty(scope) if live is None else live
        return with_entries(bare, recorded(before, bare, managers, scope, manager, now))
    except (ApplyError, RecursionError):
        return bare


def recorded(live: Object, new: Object, managers: Managers, scope: Scope, manager: str, now: str) -> Managers:
    """Return the managers after a write; raise ApplyError when the schema does not fit an object."""
    live = without_entries(live)
    for object_, version_name in ((new, "new"), (live, "live")):
        try:
            check_with_duplicates(object_, scope.type)
        except ApplyError as error:
            raise error.within(
                f"failed to convert {version_name} object ({named(object_)}) to smd typed"
            ) from None
    try:
        changed, managers = own_by_updating(live, new, managers, scope)
    except ApplyError as error:
        raise error.within(f"failed to update ManagedFields ({named(new)})") from None
    changed = difference(changed, NEVER_OWNED)
    if changed:
        identity = updater(manager, scope.subresource, scope.api_version)
        if identity in managers:
            changed = union(changed, managers[identity].fields)
        managers[identity] = Owned(changed, scope.api_version, now)
    return capped(managers)


def empty(scope: Scope) -> Object:
    """Return the object before it exists."""
    return {"apiVersion": scope.api_version, "kind": scope.kind}


def _known(live: Object | None, new: Object, scope: Scope) -> Managers:
    """Return the managers before a write; a client may change them, but not through a subresource."""
    if not scope.subresource:
        entries = entries_of(new)
        if is_reset(entries):
            return {}
        managers = _decoded(entries)
        # Clients that do not know managedFields drop them without meaning it.
        if managers:
            return managers
    return _decoded(entries_of(live))


def _decoded(entries: list[Object] | None) -> Managers:
    try:
        return decode(entries)
    except ApplyError:
        return {}
