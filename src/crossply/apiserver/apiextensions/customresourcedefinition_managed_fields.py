"""The managed fields of a definition: its versions are owned as a whole, whatever is in their schemas."""

from __future__ import annotations

from crossply.apiserver.apiextensions.schema_stripping import without_plain_schemas
from crossply.apply import Scope, update
from crossply.values import Object


def definition_with_managed_fields(
    old: Object | None, new: Object, scope: Scope, manager: str, now: str
) -> Object:
    """The definition with the managedFields that it has after a write; computed without its schemas."""
    small_old: Object | None
    if old is not None and old.get("spec") is new.get("spec"):  # as after a write of the status
        small_old, small = {**old, "spec": {}}, {**new, "spec": {}}
    else:
        small_old = None if old is None else without_plain_schemas(old)
        small = without_plain_schemas(new, other_than=old)
    recorded = update(small_old, small, scope, manager, now)
    return {**recorded, "spec": new["spec"]} if "spec" in new else recorded
