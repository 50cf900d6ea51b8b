"""Validation rules of a schema, written in CEL (`x-kubernetes-validations`).

The last of the checks: `RuleChecker(schema)` compiles the rules of every node, `check` evaluates them for an
object and, where there is one, the object it replaces. Schemas without rules cost nothing.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

from crossply.schema.cel_error_translation import BUDGET_SPENT
from crossply.schema.cel_program import SECONDS_TOGETHER
from crossply.schema.cel_types import Declared, declare, escape, is_embedded
from crossply.schema.field_errors import INVALID, FieldError
from crossply.values import Object
from crossply.values.deepcopy import equal

_NO_TYPE = "rule compiler initialization error: failed to convert to declType for CEL validation rules"


class RuleChecker:
    """The rules of a schema, compiled when they are first needed and kept for every object after."""

    def __init__(self, schema: Object) -> None:
        self._schema = schema
        self._root: _Node | None = None
        self._has_rules = has_rules(schema)

    def check(self, value: Object, old: Object | None = None) -> list[FieldError]:
        """Return the errors of an object; `old` is the object that it replaces."""
        return self._check(value, old, _Findings())

    def check_change(self, value: Object, old: Object) -> list[FieldError]:
        """Like `check`, but rules without `oldSelf` are skipped where the value is unchanged."""
        return self._check(value, old, _ChangeFindings())

    def _check(self, value: Object, old: Object | None, findings: _Findings) -> list[FieldError]:
        if not self._has_rules:
            return []
        from crossply.schema.cel_rules import OutOfBudget

        if self._root is None:
            self._root = _Node(self._schema, self._schema, True, declare(self._schema, True))
        try:
            self._root.check(value, old, "", findings)
        except OutOfBudget as stop:
            findings.errors += stop.errors
        return findings.errors


class _Findings:
    """The errors so far; no error is suppressed."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self.deadline = monotonic() + SECONDS_TOGETHER

    def enter(self, value: Any, old: Any) -> None:
        """Go on with a part of the object."""

    def leave(self) -> None:
        """Come back from it."""

    def asks(self, rule: Any) -> bool:
        """Whether to evaluate a rule about the part that was entered last."""
        return True


class _ChangeFindings(_Findings):
    """Suppresses the errors of unchanged values and everything below them (ratcheting)."""

    def __init__(self) -> None:
        super().__init__()
        self._unchanged = [False]

    def enter(self, value: Any, old: Any) -> None:
        unchanged = self._unchanged[-1] or (old is not None and equal(value, old))
        self._unchanged.append(unchanged)

    def leave(self) -> None:
        self._unchanged.pop()

    def asks(self, rule: Any) -> bool:
        return not self._unchanged[-1] or bool(rule.uses_old)


def has_rules(schema: Any) -> bool:
    """Return whether a schema has a rule anywhere on its structure."""
    if not isinstance(schema, dict):
        return False
    return (
        bool(schema.get("x-kubernetes-validations"))
        or any(has_rules(schema.get(key)) for key in ("items", "additionalProperties"))
        or any(has_rules(member) for member in (schema.get("properties") or {}).values())
    )


class _Node:
    """The rules at one place of a schema, and below it.

    `rules_from` says which rules there are, `schema` what the data looks like: they differ below `allOf`.
    """

    __slots__ = ("branches", "declared", "items", "others", "properties", "rules", "schema", "sources")

    def __init__(
        self, rules_from: Object, schema: Object, is_resource: bool, declared: Declared | None
    ) -> None:
        self.schema = schema
        self.declared = declared
        self.sources: list[Object] = rules_from.get("x-kubernetes-validations") or []
        self.rules: list[Any] | None = None
        self.items = _below(rules_from, schema, "items", declared)
        self.others = _below(rules_from, schema, "additionalProperties", declared)
        self.properties = _property_nodes(rules_from, schema, declared)
        self.branches = [
            _Node(branch, schema, is_resource, declared) for branch in rules_from.get("allOf") or ()
        ]

    def check(self, value: Any, old: Any, path: str, findings: _Findings) -> None:
        if value is None:
            return
        findings.enter(value, old)
        if self.sources:
            findings.errors += self._own(value, old, path, findings)
        for branch in self.branches:
            branch.check(value, old, path, findings)
        if isinstance(value, list) and self.items:
            self._check_items(value, old, path, findings)
        elif isinstance(value, dict):
            self._check_members(value, old if isinstance(old, dict) else {}, path, findings)
        findings.leave()

    def _own(self, value: Any, old: Any, path: str, findings: _Findings) -> list[FieldError]:
        if self.declared is None:
            return [FieldError(INVALID, path, self.schema.get("type") or "", _NO_TYPE)]
        from crossply.schema.cel_rules import OutOfBudget, check_rules, compile_rules

        if monotonic() > findings.deadline:
            raise OutOfBudget([FieldError(INVALID, path, self.schema.get("type") or "", BUDGET_SPENT)])
        if self.rules is None:
            self.rules = compile_rules(self.sources, self.schema, self.declared)
        rules = [rule for rule in self.rules if findings.asks(rule)]
        return check_rules(rules, value, old, self.schema, self.declared, path)

    def _check_members(self, value: Object, old: Object, path: str, findings: _Findings) -> None:
        for name in sorted(value):
            if self.others:
                self.others.check(value[name], old.get(name), f"{path}[{name}]", findings)
            node = self.properties.get(name)
            if node:
                node.check(value[name], old.get(name), f"{path}.{name}" if path else name, findings)

    def _check_items(self, value: list[Any], old: Any, path: str, findings: _Findings) -> None:
        assert self.items is not None
        before = self._old_items(old)
        for index, item in enumerate(value):
            self.items.check(item, before.get(self._key(item)), f"{path}[{index}]", findings)

    def _old_items(self, old: Any) -> dict[Any, Any]:
        # Only items of a list of type map can be distinguished by their keys.
        if not isinstance(old, list) or self.schema.get("x-kubernetes-list-type") != "map":
            return {}
        return {self._key(item): item for item in old}

    def _key(self, item: Any) -> Any:
        from crossply.schema.single_value_validation import identity

        names = self.schema.get("x-kubernetes-list-map-keys") or []
        return identity([item.get(name) for name in names]) if isinstance(item, dict) else None


def _below(rules_from: Object, schema: Object, key: str, declared: Declared | None) -> _Node | None:
    rules, data = rules_from.get(key), schema.get(key)
    if not isinstance(rules, dict) or not isinstance(data, dict):
        return None
    return _Node(rules, data, is_embedded(data), declared.element if declared else None)


def _property_nodes(rules_from: Object, schema: Object, declared: Declared | None) -> dict[str, _Node]:
    properties = schema.get("properties") or {}
    fields = {name: member for _, name, member in declared.fields} if declared else {}
    nodes = {}
    for name, rules in (rules_from.get("properties") or {}).items():
        if name in properties:
            data = properties[name]
            # A name that expressions cannot write still has rules of its own.
            member = declare(data, is_embedded(data)) if escape(name) is None else fields.get(name)
            if member:
                nodes[name] = _Node(rules, data, is_embedded(data), member)
    return nodes
