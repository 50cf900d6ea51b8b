"""Type checks the expressions of a policy against the schemas of the resources that it matches.

The result goes into the status of the policy and does not change what the policy does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from crossply.apiserver.admission.cel_environment import new_environment
from crossply.apiserver.served_resources import Registry, Resource
from crossply.schema.cel_error_translation import compile_issues
from crossply.schema.cel_expression_rewriting import rewritten
from crossply.schema.cel_types import Declared, declare
from crossply.values import Object

MOST_TYPES = 10
_UNTYPED = ("request", "params", "namespaceObject", "authorizer")


class _Kind(NamedTuple):
    """One kind that a policy matches."""

    group: str
    version: str
    kind: str
    declared: Declared

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Kind={self.kind}"


def expression_warnings(policy: Object, registry: Registry) -> list[Object]:
    """The expressionWarnings for the status of a policy."""
    spec = policy.get("spec") or {}
    kinds = _kinds(spec, registry)
    checkers = [(kind, _Checker(kind.declared, spec.get("variables") or ())) for kind in kinds]
    warnings = []
    for place, text in _expressions(spec):
        problems = [f"{kind}: {issues}\n" for kind, checker in checkers if (issues := checker.issues(text))]
        if problems:
            warnings.append({"fieldRef": place, "warning": "\n".join(problems)})
    return warnings


def _expressions(spec: Object) -> Iterator[tuple[str, str]]:
    for index, validation in enumerate(spec.get("validations") or ()):
        for key in ("expression", "messageExpression"):
            if validation.get(key):
                yield f"spec.validations[{index}].{key}", validation[key]


def _kinds(spec: Object, registry: Registry) -> list[_Kind]:
    """The kinds that the rules of a policy name, sorted; wildcards name none."""
    kinds: dict[tuple[str, str, str], _Kind] = {}
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        for group in _named(rule, "apiGroups"):
            for version in _named(rule, "apiVersions"):
                for plural in _named(rule, "resources"):
                    kind = _kind(registry, group, version, plural)
                    if kind is not None and len(kinds) < MOST_TYPES:
                        kinds[kind[:3]] = kind
    return [kinds[key] for key in sorted(kinds)]


def _named(rule: Object, key: str) -> list[str]:
    """The items that a rule lists; none if one is a wildcard, which is too much to check."""
    items = rule.get(key) or []
    if "*" in items:
        return []
    return sorted(item for item in items if "/" not in item and "*" not in item)


def _kind(registry: Registry, group: str, version: str, plural: str) -> _Kind | None:
    resource = registry.find(group, plural)
    schema_version = resource.versions.get(version) if resource is not None else None
    if resource is None or schema_version is None or schema_version.schema is None:
        return None
    declared = declare(_with_metadata(resource, schema_version.schema, registry), True)
    return _Kind(group, version, resource.names.kind, declared) if declared is not None else None


def _with_metadata(resource: Resource, schema: Object, registry: Registry) -> Object:
    """A schema with the metadata that every object has, which definitions need not declare."""
    model = registry.find("", "configmaps")
    if not resource.custom or model is None:
        return schema
    known = (model.versions[model.storage_version].schema or {}).get("properties") or {}
    metadata = {"metadata": known["metadata"]} if "metadata" in known else {}
    return {**schema, "properties": {**(schema.get("properties") or {}), **metadata}}


class _Checker:
    """Type checks expressions about objects of one kind."""

    def __init__(self, declared: Declared, variables: Any) -> None:
        from crossply.schema.cel_types_as_protobuf import checked_type

        self._kind, self._pool = checked_type(declared)
        self._composed: dict[str, Any] = {}
        self._environment = self._make()
        for variable in variables:
            # A variable has the type of its expression, or any type if that does not compile.
            self._composed[f"variables.{variable['name']}"] = self._type_of(variable.get("expression", ""))
            self._environment = self._make()

    def issues(self, text: str) -> str:
        """What is wrong with an expression; empty if it is valid."""
        try:
            self._environment.compile(text)
        except RuntimeError as problem:
            rewritten_text = rewritten(text, str(problem))
            if rewritten_text != text:
                return self.issues(rewritten_text)
            return "\n".join(compile_issues(str(problem)))
        return ""

    def _type_of(self, text: str) -> Any:
        from cel_expr_python import cel

        try:
            return self._environment.compile(text).return_type()
        except RuntimeError:
            return cel.Type.DYN

    def _make(self) -> Any:
        from cel_expr_python import cel

        untyped = dict.fromkeys(_UNTYPED, cel.Type.DYN)
        variables = {"object": self._kind, "oldObject": self._kind, **untyped, **self._composed}
        return new_environment(variables, self._pool)
