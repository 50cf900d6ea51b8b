"""Decides whether a webhook, policy or binding matches a write: by rules, and by selectors of namespaces and
objects.

A configuration that matches only another version of the same resource gets the object at that version, unless
`matchPolicy` is Exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crossply.apiserver.admission.attributes import Attributes
from crossply.apiserver.admission.namespace_lifecycle import Namespaces
from crossply.apiserver.registry.selectors import Requirement, labels_match, read_label_selector
from crossply.values import Object

Selector = tuple[Requirement, ...]


def read_selector(selector: Object | None) -> Selector:
    """The requirements of a LabelSelector; without any, it selects everything. It was validated before."""
    return read_label_selector(selector) or ()


@dataclass(frozen=True, slots=True)
class Rule:
    """Matches writes by resource, version, operation, scope and name."""

    groups: frozenset[str]
    versions: frozenset[str]
    operations: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    scope: str
    names: frozenset[str]

    def matches(self, write: Attributes, version: str) -> bool:
        """Whether the rule matches the write if it were made at this version."""
        return (
            _has(self.groups, write.group)
            and _has(self.versions, version)
            and _has(self.operations, write.operation)
            and self._names_resource(write)
            and self._has_scope(write)
            and (not self.names or write.name in self.names)
        )

    def _names_resource(self, write: Attributes) -> bool:
        return any(
            resource in ("*", write.plural) and subresource in ("*", write.subresource)
            for resource, subresource in self.resources
        )

    def _has_scope(self, write: Attributes) -> bool:
        if self.scope == "*":
            return True
        namespaced = bool(write.namespace) and not write.is_namespace
        return namespaced is (self.scope == "Namespaced")


def _has(items: frozenset[str], item: str) -> bool:
    return item in items or "*" in items


def read_rules(rules: Iterable[Object] | None) -> tuple[Rule, ...]:
    return tuple(
        Rule(
            frozenset(rule.get("apiGroups") or ()),
            frozenset(rule.get("apiVersions") or ()),
            frozenset(rule.get("operations") or ()),
            tuple(_split(resource) for resource in rule.get("resources") or ()),
            rule.get("scope") or "*",
            frozenset(rule.get("resourceNames") or ()),
        )
        for rule in rules or ()
    )


def _split(resource: str) -> tuple[str, str]:
    name, _, subresource = resource.partition("/")
    return name, subresource


@dataclass(frozen=True, slots=True)
class Matching:
    """The rules and selectors of one configuration."""

    rules: tuple[Rule, ...]
    excluded: tuple[Rule, ...] = ()
    namespaces: Selector = ()
    objects: Selector = ()
    exact: bool = False
    without_rules: bool = False
    """Whether a configuration without rules matches everything, as the binding of a policy does."""

    def version_for(self, write: Attributes, namespaces: Namespaces) -> str | None:
        """The version at which the configuration matches the write, or None if it does not."""
        if not self._selects_objects(write) or self._version_by(self.excluded, write) is not None:
            return None
        version = self._version_by(self.rules, write)
        if not self.rules and self.without_rules:
            version = write.version
        if version is None or not self._selects_namespace(write, namespaces):
            return None
        return version

    def _version_by(self, rules: tuple[Rule, ...], write: Attributes) -> str | None:
        if any(rule.matches(write, write.version) for rule in rules):
            return write.version
        if self.exact or not rules:
            return None
        others = [name for name, candidate in write.call.resource.versions.items() if candidate.served]
        for rule in rules:
            for version in others:
                if version != write.version and rule.matches(write, version):
                    return version
        return None

    def _selects_namespace(self, write: Attributes, namespaces: Namespaces) -> bool:
        if not self.namespaces or (not write.namespace and not write.is_namespace):
            return True
        written = write.is_namespace and not write.subresource and write.operation in ("CREATE", "UPDATE")
        if written:
            return labels_match(self.namespaces, _labels(write.obj))
        return labels_match(self.namespaces, namespaces.require(write.namespace).labels)

    def _selects_objects(self, write: Attributes) -> bool:
        if not self.objects:
            return True
        # An absent object has no labels, so that not even a DoesNotExist selector selects it.
        return any(
            obj is not None and labels_match(self.objects, _labels(obj)) for obj in (write.obj, write.old)
        )


def _labels(obj: Object | None) -> dict[str, str]:
    return ((obj or {}).get("metadata") or {}).get("labels") or {}


def read_matching(spec: Object | None, *, without_rules: bool = False) -> Matching:
    """The `matchConstraints` of a policy or the `matchResources` of a binding."""
    spec = spec or {}
    return Matching(
        read_rules(spec.get("resourceRules")),
        read_rules(spec.get("excludeResourceRules")),
        read_selector(spec.get("namespaceSelector")),
        read_selector(spec.get("objectSelector")),
        spec.get("matchPolicy") == "Exact",
        without_rules,
    )
