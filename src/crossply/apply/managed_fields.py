"""The entries of `metadata.managedFields`.

An entry belongs to a manager, an operation and a subresource; updates through different API versions are
different entries, while an applier has one for all versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from crossply.apply.errors import BadManagedFields
from crossply.apply.field_sets import FieldSet, decode_fields, union
from crossply.values import Object, gojson
from crossply.values.deepcopy import equal

APPLY, UPDATE = "Apply", "Update"
_MOST_UPDATERS = 10
_OLD_UPDATES = "ancient-changes"
_TEXT_FIELDS = ("manager", "operation", "apiVersion", "fieldsType", "subresource", "time")
_TEXT = (str, type(None))


class Identity(NamedTuple):
    """The identity of an entry; `api_version` is empty for appliers."""

    manager: str
    operation: str
    api_version: str
    subresource: str

    def text(self) -> str:
        """Return the identity as Kubernetes writes and sorts it."""
        fields = zip(("manager", "operation", "apiVersion", "subresource"), self, strict=True)
        return "{" + ",".join([f'"{name}":{gojson.dumps(value)}' for name, value in fields if value]) + "}"


class Owned(NamedTuple):
    """The fields that one manager owns, in one API version."""

    fields: FieldSet
    api_version: str
    time: str | None

    def owning(self, fields: FieldSet) -> Owned:
        """Return the same owner with other fields."""
        return Owned(fields, self.api_version, self.time)


Managers = dict[Identity, Owned]


def applier(manager: str, subresource: str) -> Identity:
    """Return the identity of a manager that applies."""
    return Identity(manager or "unknown", APPLY, "", subresource)


def updater(manager: str, subresource: str, api_version: str) -> Identity:
    """Return the identity of a manager that creates, replaces or patches."""
    return Identity(manager or "unknown", UPDATE, api_version, subresource)


def entries_of(object_: Object | None) -> list[Any] | None:
    """Return the managedFields of an object as far as they are entries at all."""
    metadata = object_.get("metadata") if object_ else None
    entries = metadata.get("managedFields") if metadata.__class__ is dict else None
    return entries if entries.__class__ is list and all(map(_is_entry, entries)) else None


def _is_entry(entry: Any) -> bool:
    if entry.__class__ is not dict:
        return False
    return all(entry.get(name).__class__ in _TEXT for name in _TEXT_FIELDS)


def without_entries(object_: Object) -> Object:
    """Return an object without managedFields."""
    metadata = object_.get("metadata")
    if metadata.__class__ is not dict or "managedFields" not in metadata:
        return object_
    rest = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**object_, "metadata": rest}


def with_entries(object_: Object, managers: Mapping[Identity, Owned]) -> Object:
    """Return an object whose managedFields record the managers."""
    if not managers:
        return without_entries(object_)
    metadata = object_.get("metadata")
    head = metadata if metadata.__class__ is dict else {}
    return {**object_, "metadata": {**head, "managedFields": encode(managers)}}


def is_reset(entries: list[Any] | None) -> bool:
    """Return whether a client asks to forget all owners: an empty list, or one empty entry."""
    if not entries:
        return entries is not None
    return len(entries) == 1 and not any(entries[0].values())


def decode(entries: list[Any] | None) -> Managers:
    """Read the managers of an object; raise BadManagedFields when an entry cannot be understood."""
    managers: Managers = {}
    for index, entry in enumerate(entries or ()):
        operation, version = entry.get("operation"), entry.get("apiVersion")
        if operation not in (APPLY, UPDATE):
            raise BadManagedFields("operation must be `Apply` or `Update`")
        if not version:
            raise BadManagedFields("apiVersion must not be empty")
        _check_fields_type(entry.get("fieldsType"), index)
        identity = Identity(
            entry.get("manager") or "",
            operation,
            version if operation == UPDATE else "",
            entry.get("subresource") or "",
        )
        managers[identity] = Owned(decode_fields(entry.get("fieldsV1")), version, _utc(entry.get("time")))
    return managers


def _check_fields_type(fields_type: Any, index: int) -> None:
    if not fields_type:
        raise BadManagedFields(f"missing fieldsType in managed fields entry {index}")
    if fields_type != "FieldsV1":
        shown = gojson.dumps(fields_type)
        raise BadManagedFields(f"invalid fieldsType {shown} in managed fields entry {index}")


def encode(managers: Mapping[Identity, Owned]) -> list[Object]:
    """Write the managers as managedFields: appliers first, then by time and name."""
    entries = [_entry(identity, owned) for identity, owned in managers.items()]
    entries.sort(key=_order)
    return entries


def _entry(identity: Identity, owned: Owned) -> Object:
    entry: Object = {
        "manager": identity.manager,
        "operation": identity.operation,
        "apiVersion": owned.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned.fields,
    }
    if owned.time:
        entry["time"] = owned.time
    if identity.subresource:
        entry["subresource"] = identity.subresource
    return entry


def _order(entry: Object) -> tuple[str, str, str, str, str]:
    # Times are in UTC and to the second, so they sort as text.
    time, subresource = entry.get("time", ""), entry.get("subresource", "")
    return (entry["operation"], time, entry["manager"], entry["apiVersion"], subresource)


def _utc(time: Any) -> str | None:
    if time is None or (time.__class__ is str and len(time) == 20 and time[-1] == "Z"):
        return time
    from crossply.values.timestamps import format_timestamp, parse_timestamp

    parsed = parse_timestamp(time)
    if parsed is None:
        raise BadManagedFields(f"{time!s} is not a time")
    return format_timestamp(parsed)


def capped(managers: Managers) -> Managers:
    """Fold the oldest updaters of a version into one, so that an object never has more than ten."""
    updaters = [identity for identity in managers if identity.operation == UPDATE]
    if len(updaters) <= _MOST_UPDATERS:
        return managers
    updaters.sort(key=lambda identity: (managers[identity].time or "", identity.text()))
    result = dict(managers)
    first_of: dict[str, Identity] = {}
    left = len(updaters)
    for identity in updaters:
        if left <= _MOST_UPDATERS:
            break
        owned = result[identity]
        version = owned.api_version
        if version not in first_of:
            first_of[version] = identity
            continue
        bucket = updater(_OLD_UPDATES, "", version)
        if bucket not in result:
            result[bucket] = result.pop(first_of[version])
        joined = union(owned.fields, result[bucket].fields)
        del result[identity]
        # The merged entry is as new as the newest one in it.
        result[bucket] = Owned(joined, version, owned.time)
        left -= 1
    return result


def with_old_times(new: Object, old: Object) -> Object:
    """Return a new object with the old times if only times differ, else the new object as it is."""
    new_entries, old_entries = _entries(new), _entries(old)
    if not new_entries or len(new_entries) != len(old_entries):
        return new
    if not equal([_timeless(entry) for entry in new_entries], [_timeless(entry) for entry in old_entries]):
        return new
    head, before = new["metadata"], old["metadata"]
    rest = {**new, "metadata": {**head, "managedFields": old_entries}}
    return rest if head.keys() == before.keys() and equal(rest, old) else new


def _entries(object_: Object) -> list[Any]:
    return (object_.get("metadata") or {}).get("managedFields") or []


def _timeless(entry: Object) -> Object:
    return {name: value for name, value in entry.items() if name != "time"}
