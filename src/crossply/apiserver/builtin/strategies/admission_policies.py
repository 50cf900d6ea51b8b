"""Strategies of admission policies and their bindings."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.admission.cel_expression_validation import check_stored_policy
from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import (
    duplicate,
    forbidden,
    invalid,
    label_selector,
    one_of,
    required,
)
from crossply.apiserver.builtin.strategies.webhooks import (
    FAILURE_POLICIES,
    MATCH_POLICIES,
    check_conditions,
    check_rule,
)
from crossply.schema.field_errors import FieldError
from crossply.values import Object

_ACTIONS = ("Audit", "Deny", "Warn")


class PolicyStrategy(Strategy):
    counts_generation = True
    allows_unconditional_update = False

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = one_of("spec.failurePolicy", spec.get("failurePolicy", ""), FAILURE_POLICIES)
        if spec.get("paramKind") is not None:
            errors += [
                required(f"spec.paramKind.{key}")
                for key in ("apiVersion", "kind")
                if not spec["paramKind"].get(key)
            ]
        constraints = spec.get("matchConstraints")
        if constraints is None:
            errors.append(required("spec.matchConstraints"))
        else:
            errors += _check_matching(constraints, "spec.matchConstraints", rules_required=True)
        errors += check_conditions(spec.get("matchConditions") or (), "spec.matchConditions")
        if not spec.get("validations") and not spec.get("auditAnnotations"):
            detail = "validations or auditAnnotations must contain at least one item"
            errors += [required(f"spec.{key}", detail) for key in ("validations", "auditAnnotations")]
        for index, validation in enumerate(spec.get("validations") or ()):
            if not validation.get("expression", "").strip():
                errors.append(
                    required(f"spec.validations[{index}].expression", "expression is not specified")
                )
        return [*errors, *check_stored_policy(spec)]


def _check_matching(matching: Object, path: str, rules_required: bool) -> list[FieldError]:
    errors = one_of(f"{path}.matchPolicy", matching.get("matchPolicy", "Exact"), MATCH_POLICIES)
    for key in ("namespaceSelector", "objectSelector"):
        errors += label_selector(matching.get(key), f"{path}.{key}")
    for key in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(matching.get(key) or ()):
            errors += check_rule(rule, f"{path}.{key}[{index}]")
    if rules_required and not matching.get("resourceRules"):
        errors.append(required(f"{path}.resourceRules"))
    return errors


class PolicyBindingStrategy(Strategy):
    counts_generation = True
    allows_unconditional_update = False

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = [] if spec.get("policyName") else [required("spec.policyName")]
        reference = spec.get("paramRef")
        if reference is not None:
            errors += _check_parameters(reference, "spec.paramRef")
        if spec.get("matchResources") is not None:
            errors += _check_matching(spec["matchResources"], "spec.matchResources", rules_required=False)
        return errors + _check_actions(spec.get("validationActions") or ())


def _check_parameters(reference: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if reference.get("name") and reference.get("selector") is not None:
        detail = "name and selector are mutually exclusive"
        errors += [forbidden(f"{path}.name", detail), forbidden(f"{path}.selector", detail)]
    elif not reference.get("name") and reference.get("selector") is None:
        errors.append(required(path, "one of name or selector must be specified"))
    if reference.get("parameterNotFoundAction") is None:
        errors.append(required(f"{path}.parameterNotFoundAction", ""))
    return errors


def _check_actions(actions: Any) -> list[FieldError]:
    path = "spec.validationActions"
    if not actions:
        return [required(path)]
    errors: list[FieldError] = []
    for index, action in enumerate(actions):
        errors += one_of(f"{path}[{index}]", action, _ACTIONS)
        if action in actions[:index]:
            errors.append(duplicate(f"{path}[{index}]", action))
    if {"Deny", "Warn"} <= set(actions):
        detail = (
            "must not contain both Deny and Warn (repeating the same validation failure information in the "
            "API response and headers serves no purpose)"
        )
        errors.append(invalid(path, list(actions), detail))
    return errors
