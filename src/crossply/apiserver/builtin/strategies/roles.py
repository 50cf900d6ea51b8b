"""Strategies of RBAC kinds."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import (
    invalid,
    label_selector,
    one_of,
    problems_at,
    required,
)
from crossply.apiserver.registry.name_validation import path_segment_problems, subdomain_problems
from crossply.schema.field_errors import FieldError
from crossply.values import Object

_GROUP = "rbac.authorization.k8s.io"


class _NamedFreely(Strategy):
    """Kinds whose names must only fit into a URL, such as `system:node`."""

    allows_create_on_update = True

    def name_problems(self, name: str) -> tuple[str, ...]:
        return path_segment_problems(name)


class RoleStrategy(_NamedFreely):
    def validate(self, obj: Object) -> list[FieldError]:
        errors = []
        for index, rule in enumerate(obj.get("rules") or ()):
            errors += _check_rule(rule, f"rules[{index}]", self.resource.namespaced)
        aggregation = obj.get("aggregationRule")
        if aggregation is not None:
            errors += _check_aggregation(aggregation)
        return errors


def _check_rule(rule: Object, path: str, namespaced: bool) -> list[FieldError]:
    errors = []
    if not rule.get("verbs"):
        errors.append(required(f"{path}.verbs", "verbs must contain at least one value"))
    urls = rule.get("nonResourceURLs")
    if urls:
        return errors + _check_urls(rule, urls, f"{path}.nonResourceURLs", namespaced)
    if not rule.get("apiGroups"):
        errors.append(required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        errors.append(required(f"{path}.resources", "resource rules must supply at least one resource"))
    return errors


def _check_urls(rule: Object, urls: Any, path: str, namespaced: bool) -> list[FieldError]:
    errors = []
    if namespaced:
        errors.append(invalid(path, urls, "namespaced rules cannot apply to non-resource URLs"))
    if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
        detail = "rules cannot apply to both regular resources and non-resource URLs"
        errors.append(invalid(path, urls, detail))
    return errors


def _check_aggregation(aggregation: Object) -> list[FieldError]:
    path = "aggregationRule.clusterRoleSelectors"
    selectors = aggregation.get("clusterRoleSelectors") or ()
    if not selectors:
        detail = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        return [required(path, detail)]
    return [
        error
        for index, selector in enumerate(selectors)
        for error in label_selector(selector, f"{path}[{index}]")
    ]


class BindingStrategy(_NamedFreely):
    def validate(self, obj: Object) -> list[FieldError]:
        role = obj.get("roleRef") or {}
        kinds = ("Role", "ClusterRole") if self.resource.namespaced else ("ClusterRole",)
        errors = one_of("roleRef.apiGroup", role.get("apiGroup", ""), [_GROUP])
        errors += one_of("roleRef.kind", role.get("kind", ""), kinds)
        name = role.get("name", "")
        if name:
            errors += problems_at("roleRef.name", name, path_segment_problems(name))
        else:
            errors.append(required("roleRef.name"))
        for index, subject in enumerate(obj.get("subjects") or ()):
            errors += _check_subject(subject, f"subjects[{index}]", self.resource.namespaced)
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The roleRef of a binding is immutable."""
        errors = self.validate(new)
        if new.get("roleRef") != old.get("roleRef"):
            role = new.get("roleRef") or {}
            shown = {"APIGroup": role.get("apiGroup"), "Kind": role.get("kind"), "Name": role.get("name")}
            errors.append(invalid("roleRef", shown, "cannot change roleRef"))
        return errors


def _check_subject(subject: Object, path: str, namespaced: bool) -> list[FieldError]:
    name, kind, group = (subject.get(key, "") for key in ("name", "kind", "apiGroup"))
    errors = [] if name else [required(f"{path}.name")]
    if kind == "ServiceAccount":
        if name:
            errors += problems_at(f"{path}.name", name, subdomain_problems(name))
        errors += one_of(f"{path}.apiGroup", group, [""])
        if not namespaced and not subject.get("namespace"):
            errors.append(required(f"{path}.namespace"))
    elif kind in ("User", "Group"):
        errors += one_of(f"{path}.apiGroup", group, [_GROUP])
    else:
        errors += one_of(f"{path}.kind", kind, ["ServiceAccount", "User", "Group"])
    return errors
