"""The strategy of custom resources: what their schema, its rules and a status subresource ask of a write."""

from __future__ import annotations

from crossply.apiserver.registry.name_validation import subdomain_problems
from crossply.apiserver.served_resources import Resource, Version
from crossply.schema.cel_object_validation import RuleChecker, has_rules
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
from crossply.schema.list_and_embedded_checks import check_embedded, check_list_types
from crossply.schema.ratcheting import new_errors
from crossply.schema.validation import validate
from crossply.values import Object

_BLOCKING = frozenset({NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to "
    "complete validation"
)


class CustomStrategy:
    """The strategy of a custom resource, from its schema."""

    counts_generation = True
    allows_create_on_update = False
    allows_unconditional_update = False

    def __init__(self, resource: Resource, version: Version) -> None:
        self._schema = version.schema
        self._has_status = "status" in version.subresources
        self._rules = RuleChecker(self._schema) if self._schema and has_rules(self._schema) else None

    def name_problems(self, name: str) -> tuple[str, ...]:
        return subdomain_problems(name)

    def of_unknown_depth(self, obj: Object) -> Object:
        return obj

    def prepare_create(self, obj: Object) -> None:
        """Drop the status where it is a subresource."""
        if self._has_status:
            obj.pop("status", None)

    def prepare_update(self, new: Object, old: Object) -> None:
        """Keep the status where it is a subresource."""
        if self._has_status:
            _keep(new, old, "status")

    def prepare_status_update(self, new: Object, old: Object) -> None:
        """Keep everything but the status and managedFields, metadata too."""
        for key in {*new, *old} - {"status", "metadata"}:
            _keep(new, old, key)
        managers = new["metadata"].get("managedFields")
        new["metadata"] = dict(old["metadata"])
        if managers is not None:
            new["metadata"]["managedFields"] = managers

    def validate_create(self, obj: Object) -> list[FieldError]:
        """Validate types, list types and rules."""
        if self._schema is None or self._is_usual(self._schema, obj):
            return self._with_rules(obj, None, [])
        errors = [*validate(obj, self._schema), *check_list_types(obj, self._schema)]
        return self._with_rules(obj, None, errors + check_embedded(obj, self._schema))

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """As `validate_create`, with transition rules; errors that the old object had are ignored
        (ratcheting).
        """
        if self._schema is None or self._is_usual(self._schema, new):
            return self._with_rules(new, old, [])
        errors = new_errors(validate(new, self._schema), new, old, self._schema)
        lists = check_list_types(new, self._schema)
        if lists and not check_list_types(old, self._schema):
            errors += lists
        return self._with_rules(new, old, errors + check_embedded(new, self._schema))

    def changes_generation(self, new: Object, old: Object) -> bool:
        """Without a status subresource, the status counts as well."""
        ignored = {"metadata", "status"} if self._has_status else {"metadata"}
        return any(new.get(key) != old.get(key) for key in {*new, *old} - ignored)

    def _with_rules(self, obj: Object, old: Object | None, errors: list[FieldError]) -> list[FieldError]:
        if self._rules is None or any(error.kind in _BLOCKING for error in errors):
            return errors
        rule_errors = self._rules.check(obj) if old is None else self._rules.check_change(obj, old)
        return [*errors, *rule_errors]

    def _is_usual(self, schema: Object, obj: Object) -> bool:
        """Whether the compiled fast check accepts the object."""
        try:
            return bool(quick_check(schema)(obj) == obj)
        except Unusual:
            return False

    def unchecked(self, errors: list[FieldError]) -> list[FieldError]:
        """A note that rules were not evaluated because of these errors."""
        if self._rules is None or not any(error.kind in _BLOCKING for error in errors):
            return []
        return [FieldError(INVALID, "", None, _UNCHECKED)]


def _keep(new: Object, old: Object, key: str) -> None:
    if key in old:
        new[key] = old[key]
    else:
        new.pop(key, None)
