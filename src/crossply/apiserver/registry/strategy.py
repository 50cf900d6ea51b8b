"""What is special about a kind: its names, its defaults, its rules.

The life cycle of an object (`lifecycle`) is the same for all kinds and asks a strategy where they differ.
Custom resources have theirs here, made from their schema; built-in kinds have theirs in `builtin`.
"""

from __future__ import annotations

from typing import Protocol

from crossply.apiserver.registry.name_validation import subdomain_problems
from crossply.apiserver.registry.resources import Resource, Version
from crossply.schema.cel import RuleChecker, has_rules
from crossply.schema.fast_validation import Unusual, quick_check
from crossply.schema.field_errors import (
    INVALID,
    NOT_SUPPORTED,
    REQUIRED,
    TOO_LONG,
    TOO_MANY,
    TYPE_INVALID,
    FieldError,
)
from crossply.schema.kubernetes_extensions import check_embedded, check_list_types
from crossply.schema.ratcheting import new_errors
from crossply.schema.validation import validate
from crossply.values import Object

_BLOCKING = frozenset({NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to "
    "complete validation"
)


class Strategy(Protocol):
    """Where kinds differ. `prepare_*` change the new object in place, and never the old one."""

    counts_generation: bool
    """Whether metadata.generation starts at one and grows with the wish."""
    allows_create_on_update: bool
    """Whether a PUT to a name that does not exist makes the object."""
    allows_unconditional_update: bool
    """Whether an update without a resourceVersion is accepted."""

    def name_problems(self, name: str) -> tuple[str, ...]:
        """What is wrong with an object's name."""
        ...

    def prepare_create(self, obj: Object) -> None:
        """Fill in and drop fields of a new object."""
        ...

    def prepare_update(self, new: Object, old: Object) -> None:
        """Keep what an update must not touch."""
        ...

    def prepare_status_update(self, new: Object, old: Object) -> None:
        """Keep everything but the status."""
        ...

    def validate_create(self, obj: Object) -> list[FieldError]:
        """What is wrong with a new object, besides its metadata."""
        ...

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """What is wrong with a changed object, besides its metadata."""
        ...

    def changes_generation(self, new: Object, old: Object) -> bool:
        """Whether the change is one of the wish, not only of metadata or status."""
        ...


class CustomStrategy:
    """A custom resource: what its schema says."""

    counts_generation = True
    allows_create_on_update = False
    allows_unconditional_update = False

    def __init__(self, resource: Resource, version: Version) -> None:
        self._schema = version.schema
        self._has_status = "status" in version.subresources
        self._rules = RuleChecker(self._schema) if self._schema and has_rules(self._schema) else None

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Any DNS subdomain is a name."""
        return subdomain_problems(name)

    def prepare_create(self, obj: Object) -> None:
        """A new object has no status where status is a subresource."""
        if self._has_status:
            obj.pop("status", None)

    def prepare_update(self, new: Object, old: Object) -> None:
        """The status is kept where it is a subresource."""
        if self._has_status:
            _keep(new, old, "status")

    def prepare_status_update(self, new: Object, old: Object) -> None:
        """Everything but the status and its owners is kept, metadata too."""
        for key in {*new, *old} - {"status", "metadata"}:
            _keep(new, old, key)
        managers = new["metadata"].get("managedFields")
        new["metadata"] = dict(old["metadata"])
        if managers is not None:
            new["metadata"]["managedFields"] = managers

    def validate_create(self, obj: Object) -> list[FieldError]:
        """Types, list types and rules."""
        if self._schema is None or self._is_usual(self._schema, obj):
            return self._with_rules(obj, None, [])
        errors = [*validate(obj, self._schema), *check_list_types(obj, self._schema)]
        return self._with_rules(obj, None, errors + check_embedded(obj, self._schema))

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The same, with rules that look at the old object; old mistakes are forgiven."""
        if self._schema is None or self._is_usual(self._schema, new):
            return self._with_rules(new, old, [])
        errors = new_errors(validate(new, self._schema), new, old, self._schema)
        lists = check_list_types(new, self._schema)
        if lists and not check_list_types(old, self._schema):
            errors += lists
        return self._with_rules(new, old, errors + check_embedded(new, self._schema))

    def changes_generation(self, new: Object, old: Object) -> bool:
        """Without a status subresource, status counts as part of the wish."""
        ignored = {"metadata", "status"} if self._has_status else {"metadata"}
        return any(new.get(key) != old.get(key) for key in {*new, *old} - ignored)

    def _with_rules(self, obj: Object, old: Object | None, errors: list[FieldError]) -> list[FieldError]:
        if self._rules is None or any(error.kind in _BLOCKING for error in errors):
            return errors
        rule_errors = self._rules.check(obj) if old is None else self._rules.check_change(obj, old)
        return [*errors, *rule_errors]

    def _is_usual(self, schema: Object, obj: Object) -> bool:
        """Whether a quick look says that all is well."""
        try:
            return bool(quick_check(schema)(obj) == obj)
        except Unusual:
            return False

    def unchecked(self, errors: list[FieldError]) -> list[FieldError]:
        """A note that rules were not looked at because of these errors."""
        if self._rules is None or not any(error.kind in _BLOCKING for error in errors):
            return []
        return [FieldError(INVALID, "", None, _UNCHECKED)]


def _keep(new: Object, old: Object, key: str) -> None:
    if key in old:
        new[key] = old[key]
    else:
        new.pop(key, None)
