"""What each kind of package may hold."""

from __future__ import annotations

from collections.abc import Callable

from crossply.values import Object
from crossply.values.api_version import api_group
from crossply.values.semver_constraints import InvalidConstraint, check
from crossply.xpkg.failures import LintFailed
from crossply.xpkg.package_yaml import Package

_NOT_ONE_META = "not exactly one package meta type"
_XP, _OPS = "apiextensions.crossplane.io", "ops.crossplane.io"

_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition", "object is not a CRD")
_ALLOWED: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Configuration": (
        (_XP, "CompositeResourceDefinition", "object is not an XRD"),
        (_XP, "ManagedResourceActivationPolicy", "object is not an ManagedResourceActivationPolicy"),
        (_XP, "Composition", "object is not a Composition"),
        (_OPS, "Operation", "object is not an Operation"),
        (_OPS, "CronOperation", "object is not a CronOperation"),
        (_OPS, "WatchOperation", "object is not a WatchOperation"),
    ),
    "Provider": (
        _CRD,
        (_XP, "ManagedResourceDefinition", "object is not an MRD"),
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration",
            "object is not an ValidatingWebhookConfiguration",
        ),
        (
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration",
            "object is not a MutatingWebhookConfiguration",
        ),
    ),
    "Function": (_CRD,),
}


def check_single_meta(package: Package) -> None:
    """Raise unless exactly one object describes the package."""
    if len(package.metas) != 1:
        raise LintFailed(_NOT_ONE_META, hint="describe the package in one crossplane.yaml")


def lint(package: Package) -> None:
    """Raise what is wrong with a package first."""
    check_single_meta(package)
    check_constraint(package.meta)
    for obj in package.objects:
        _check_object(package.kind, obj)


def failures(package: Package) -> list[str]:
    """Everything that is wrong with a package."""
    checks: list[Callable[[], None]] = [lambda: check_constraint(package.meta)]
    checks += [lambda obj=obj: _check_object(package.kind, obj) for obj in package.objects]  # type: ignore[misc]
    return [problem for run_check in checks if (problem := _problem(run_check))]


def _problem(run_check: Callable[[], None]) -> str:
    try:
        run_check()
    except LintFailed as problem:
        return str(problem)
    return ""


def check_constraint(meta: Object) -> None:
    """Raise unless the versions of Crossplane that a package works with are a valid constraint."""
    constraints = meta["spec"].get("crossplane")
    if constraints is None:
        return
    try:
        check(constraints["version"])
    except InvalidConstraint as problem:
        raise LintFailed(f"package version constraints are poorly formatted: {problem}") from None


def may_contain(package_kind: str, obj: Object) -> bool:
    """Return whether a package of a kind may hold an object."""
    group, kind = api_group(obj["apiVersion"]), obj["kind"]
    return any(group == allowed[0] and kind == allowed[1] for allowed in _ALLOWED[package_kind])


def _check_object(package_kind: str, obj: Object) -> None:
    if may_contain(package_kind, obj):
        return
    kind = obj["kind"]
    refusals = [refusal for _, _, refusal in _ALLOWED[package_kind]]
    name = obj["metadata"].get("name", "")
    hint = f"a {package_kind} package cannot hold the {kind} {name}"
    if len(refusals) == 1:
        raise LintFailed(refusals[0], hint=hint)
    reasons = ", ".join(refusals)
    raise LintFailed(f"object did not pass any of the linters with following errors: {reasons}", hint=hint)
