"""Update the ownership of fields: a manager that changes a field owns it, all others lose it.

Managers may use other API versions than the write; each is compared in its own version. An apply that would
take fields of others is a conflict, unless it is forced.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.apply.compare import NO_CHANGE, Comparison, compare
from crossply.apply.configuration_field_set import owned_fields
from crossply.apply.errors import ApplyConflict, Cause
from crossply.apply.field_sets import (
    FIELD,
    SELF,
    FieldSet,
    Path,
    difference,
    intersection,
    path_text,
    paths,
    without,
)
from crossply.apply.managed_fields import UPDATE, Identity, Managers, Owned
from crossply.apply.merge import Merge
from crossply.apply.prune import leaves_nothing, prune
from crossply.apply.request_scope import Scope
from crossply.apply.schema_types import UNTYPED, MapType, Type
from crossply.values import Object
from crossply.values.goformat import sprintf


class Conflicted(Exception):
    """An apply would change fields of other managers."""

    def __init__(self, conflicts: list[Conflict]) -> None:
        super().__init__("conflicts")
        self.conflicts = conflicts


def own_by_applying(
    live: Object, config: Object, managers: Managers, identity: Identity, scope: Scope, force: bool
) -> tuple[Object, Managers]:
    """Return the object after an apply, and who owns what then. Both objects are checked."""
    managers = _today(live, managers, scope)
    merge = Merge()
    new = merge.values(live, config, scope.type)
    last = managers.get(identity)
    fields = without(owned_fields(config, scope.type), scope.reset.get(scope.api_version, {}))
    applied = Owned(fields, scope.api_version, last.time if last else None)
    managers[identity] = applied
    if merge.hollow or not leaves_nothing(managers, last, applied):
        new = prune(new, managers, last, applied, scope.versions)
    comparisons = _Comparisons(live, new, scope)
    return new, _handed_over(managers, identity, comparisons, force)


def own_by_updating(live: Object, new: Object, managers: Managers, scope: Scope) -> tuple[FieldSet, Managers]:
    """Return the fields that a write took, and what is left to the managers so far. Both are checked."""
    managers = _today(live, managers, scope)
    comparisons = _Comparisons(live, new, scope)
    changed = comparisons.at(scope.api_version).changed()
    return changed, _handed_over(managers, None, comparisons, True)


def _today(live: Object, managers: Managers, scope: Scope) -> Managers:
    """Return the managers by the current schemas, without those of versions that are no longer served."""
    result: Managers = {}
    checked = {scope.api_version}
    for identity, owned in managers.items():
        version = scope.versions.get(owned.api_version)
        if version is None:
            continue
        if version.api_version not in checked:
            version.convert(live)
            checked.add(version.api_version)
        fields = reconciled(owned.fields, version.type)
        result[identity] = owned if fields is owned.fields else owned.owning(fields)
    return result


class _Comparisons:
    """What a write changed in each API version, computed on first use."""

    def __init__(self, old: Object, new: Object, scope: Scope) -> None:
        self._old, self._new, self._scope = old, new, scope
        self._by_version: dict[str, Comparison] = {}

    def at(self, api_version: str) -> Comparison:
        comparison = self._by_version.get(api_version)
        if comparison is None:
            comparison = self._by_version[api_version] = self._compare(api_version)
        return comparison

    def _compare(self, api_version: str) -> Comparison:
        if self._old is self._new:
            return NO_CHANGE
        version = self._scope.versions[api_version]
        old = version.convert(self._old, "failed to convert old object")
        new = version.convert(self._new, "failed to convert new object")
        comparison = compare(old, new, version.type)
        return comparison.without(self._scope.reset.get(api_version))


def _handed_over(
    managers: Managers, writer: Identity | None, comparisons: _Comparisons, force: bool
) -> Managers:
    conflicts: dict[Identity, FieldSet] = {}
    result: Managers = {}
    for owner, owned in managers.items():
        fields = owned.fields
        if owner != writer:
            comparison = comparisons.at(owned.api_version)
            if comparison is not NO_CHANGE:
                conflict = intersection(fields, comparison.changed())
                if conflict:
                    conflicts[owner] = conflict
                fields = difference(difference(fields, conflict), comparison.removed)
        if fields:
            result[owner] = owned if fields is owned.fields else owned.owning(fields)
    if conflicts and not force:
        raise Conflicted(_conflicts_of(conflicts))
    return result


def reconciled(fields: FieldSet, type_: Type) -> FieldSet:
    """Return a stored set as the current schema would record it; the same set if nothing changed."""
    if type_.map is None or type_.map.atomic:
        return fields
    return _below(fields, type_)


def _below(fields: FieldSet, type_: Type) -> FieldSet:
    """Return what is below a field, with parts of atomic values replaced by the whole."""
    result = fields
    for element, node in fields.items():
        # A field without parts needs nothing, and most fields are of this kind.
        if not node or element == SELF:
            continue
        deeper = _deeper(type_, element)
        if deeper is None:
            continue
        changed = _node(node, deeper)
        if changed is not node:
            result = result.copy() if result is fields else result
            result[element] = changed
    return result


def _node(node: FieldSet, type_: Type) -> FieldSet:
    if type_.map is not None:
        if _is_free(type_.map):
            return node
        return FIELD if type_.map.atomic else _below(node, type_)
    if type_.scalar or type_.list is None:
        return node
    return FIELD if type_.list.atomic else _below(node, type_)


def _deeper(type_: Type, element: str) -> Type | None:
    if type_.map is not None:
        return (
            type_.map.fields.get(element[2:], type_.map.element) if element[0] == "f" else type_.map.element
        )
    return type_.list.element if type_.list is not None else None


def _is_free(map_type: MapType) -> bool:
    """Return whether a map is only deduced: its values, not the schema, say what is atomic."""
    if map_type.fields or map_type.element is None or map_type.element is UNTYPED:
        return False
    return map_type.element.scalar == "untyped"


class Conflict(NamedTuple):
    """A field that a manager owns and another wants to change."""

    owner: Identity
    path: Path


def _conflicts_of(owners: dict[Identity, FieldSet]) -> list[Conflict]:
    """List the conflicts by owner and field."""
    ordered = sorted(owners, key=Identity.text)
    return [Conflict(owner, path) for owner in ordered for path in paths(owners[owner])]


def conflict_error(conflicts: list[Conflict]) -> ApplyConflict:
    """Return the answer to an apply that met conflicts."""
    causes = [Cause(path_text(path), f"conflict with {_named(owner)}") for owner, path in conflicts]
    return ApplyConflict(_message(conflicts), tuple(causes))


def _message(conflicts: list[Conflict]) -> str:
    if len(conflicts) == 1:
        owner, path = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {_named(owner)}: {path_text(path)}"
    lines: list[str] = []
    last = None
    for owner, path in conflicts:
        if owner != last:
            lines.append(f"conflicts with {_named(owner)}:")
            last = owner
        lines.append(f"- {path_text(path)}")
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


def _named(owner: Identity) -> str:
    text = sprintf("%q", [owner.manager])
    if owner.subresource:
        text += f" with subresource {sprintf('%q', [owner.subresource])}"
    if owner.operation == UPDATE:
        text += f" using {owner.api_version}"
    return text
