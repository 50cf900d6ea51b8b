"""Validation of a decoded input. Only the first error is reported.

Nothing else validates it: API servers see an opaque object inside a Composition.
"""

from __future__ import annotations

from crossply.functions.builtin.patch_and_transform.dialect import (
    COMBINE_TYPES,
    Dialect,
    patch_type,
    target_path,
)
from crossply.functions.builtin.patch_and_transform.errors import invalid, required
from crossply.functions.builtin.patch_and_transform.transform_validation import validate_transform
from crossply.values import Object

_READINESS_TYPES = frozenset(
    {"NonEmpty", "MatchString", "MatchInteger", "MatchTrue", "MatchFalse", "MatchCondition", "None"}
)
_DETAIL_FIELDS = {
    "FromValue": ("value", "value connection detail requires a value"),
    "FromConnectionSecretKey": (
        "fromConnectionSecretKey",
        "from connection secret key connection detail requires a key",
    ),
    "FromFieldPath": ("fromFieldPath", "from field path connection detail requires a field path"),
}


def validate(decoded: Object, dialect: Dialect) -> None:
    """Raise FieldError when the input is invalid."""
    for index, patch_set in enumerate(decoded.get("patchSets", [])):
        _validate_patch_set(patch_set, dialect.patch_set_path.format(index), dialect)
    environment = decoded.get("environment", {}).get("patches", [])
    resources = decoded.get("resources", [])
    if not resources and not environment:
        raise required("resources", "resources or environment patches are required")
    for index, template in enumerate(resources):
        _validate_template(template, f"resources[{index}]", dialect)
    for index, patch in enumerate(environment):
        _validate_environment_patch(patch, f"environment.patches[{index}]", dialect)


def _validate_patch_set(patch_set: Object, path: str, dialect: Dialect) -> None:
    if not patch_set.get("name"):
        raise required(f"{path}name", "name is required")
    for index, patch in enumerate(patch_set.get("patches", [])):
        place = f"{path}patches[{index}]"
        if patch_type(patch) == "PatchSet" and dialect.nested_patch_set_error:
            raise invalid(f"{place}.type", "PatchSet", dialect.nested_patch_set_error)
        validate_patch(patch, place, dialect)


def _validate_template(template: Object, path: str, dialect: Dialect) -> None:
    if not template.get("name"):
        raise required(f"{path}.name", "name is required")
    for index, patch in enumerate(template.get("patches", [])):
        validate_patch(patch, f"{path}.patches[{index}]", dialect)
    for index, detail in enumerate(template.get("connectionDetails", [])):
        _validate_connection_detail(detail, f"{path}.connectionDetails[{index}]")
    for index, check in enumerate(template.get("readinessChecks", [])):
        _validate_readiness_check(check, f"{path}.readinessChecks[{index}]")


def _validate_environment_patch(patch: Object, path: str, dialect: Dialect) -> None:
    kind = patch_type(patch)
    if kind not in dialect.environment_routes:
        raise invalid(f"{path}[type]", kind, "invalid environment patch type")
    validate_patch(patch, path, dialect)


def validate_patch(patch: Object, path: str, dialect: Dialect) -> None:
    """Raise FieldError when a patch is incomplete or invalid."""
    kind = patch_type(patch)
    if kind not in dialect.patch_types:
        raise invalid(f"{path}.type", kind, "unknown patch type")
    if kind in COMBINE_TYPES:
        # As in the published function, transforms and policy of a Combine are not validated.
        _validate_combine_patch(patch, path, kind)
        return
    if kind == "PatchSet":
        if not patch.get("patchSetName"):
            raise required(f"{path}.patchSetName", "patchSetName must be set for patch type PatchSet")
    elif not patch.get("fromFieldPath"):
        raise required(f"{path}.fromFieldPath", f"fromFieldPath must be set for patch type {kind}")
    for index, transform in enumerate(patch.get("transforms", [])):
        validate_transform(transform, f"{path}.transforms[{index}]", dialect)
    _validate_policy(patch.get("policy", {}), f"{path}.policy", dialect)


def _validate_combine_patch(patch: Object, path: str, kind: str) -> None:
    combine = patch.get("combine")
    if combine is None:
        raise required(f"{path}.combine", f"combine must be set for patch type {kind}")
    if not target_path(patch):
        raise required(f"{path}.toFieldPath", f"toFieldPath must be set for patch type {kind}")
    _validate_combine(combine, f"{path}.combine")


def _validate_combine(combine: Object, path: str) -> None:
    strategy = combine.get("strategy", "")
    if not strategy:
        raise required(f"{path}.strategy", "a combine strategy must be provided")
    if strategy != "string":
        raise invalid(f"{path}.strategy", strategy, "unknown strategy type")
    if "string" not in combine:
        raise required(f"{path}.string", f"string must be set for combine strategy {strategy}")
    variables = combine.get("variables", [])
    if not variables:
        raise required(f"{path}.variables", "at least one variable must be provided")
    for index, variable in enumerate(variables):
        if not variable.get("fromFieldPath"):
            raise required(
                f"{path}.variables[{index}].fromFieldPath",
                "fromFieldPath must be set for each combine variable",
            )


def _validate_policy(policy: Object, path: str, dialect: Dialect) -> None:
    to_policy = policy.get("toFieldPath", "Replace")
    if to_policy not in dialect.merge_policies:
        raise invalid(f"{path}.toFieldPathPolicy", to_policy, "unknown toFieldPathPolicy")
    from_policy = policy.get("fromFieldPath", "Optional")
    if from_policy not in ("Required", "Optional"):
        raise invalid(f"{path}.fromFieldPathPolicy", from_policy, "unknown fromFieldPathPolicy")


def _validate_connection_detail(detail: Object, path: str) -> None:
    kind = detail.get("type", "")
    if not kind:
        raise required(f"{path}.type", "connection detail type is required")
    if kind not in _DETAIL_FIELDS:
        raise invalid(f"{path}.type", kind, "unknown connection detail type")
    if not detail.get("name"):
        raise required(f"{path}.name", "name is required")
    field, problem = _DETAIL_FIELDS[kind]
    if field not in detail:
        raise required(f"{path}.{field}", problem)


def _validate_readiness_check(check: Object, path: str) -> None:
    kind = check.get("type", "")
    if kind not in _READINESS_TYPES:
        raise invalid(f"{path}.type", kind, "unknown readiness check type")
    if kind == "None":
        return
    if kind == "MatchCondition":
        _validate_condition(check.get("matchCondition"), f"{path}.matchCondition")
        return
    if kind == "MatchString" and "matchString" not in check:
        raise required(f"{path}.matchString", "cannot be nil for type MatchString")
    if kind == "MatchInteger" and "matchInteger" not in check:
        raise required(f"{path}.matchInteger", "cannot be nil for type MatchInteger")
    if "fieldPath" not in check:
        raise required(f"{path}.fieldPath", "cannot be empty")


def _validate_condition(condition: Object | None, path: str) -> None:
    if condition is None:
        return
    for field in ("type", "status"):
        if not condition.get(field):
            raise required(f"{path}.{field}", "cannot be empty for type MatchCondition")
