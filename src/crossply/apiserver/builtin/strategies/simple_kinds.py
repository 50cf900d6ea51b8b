"""Strategies of kinds with little validation: Namespaces, Leases, budgets, priority classes and the like."""

from __future__ import annotations

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import (
    at_most_all,
    count_or_percent,
    forbidden,
    immutable,
    invalid,
    label_selector,
    one_of,
    problems_at,
    required,
)
from crossply.apiserver.registry.name_validation import (
    dns_label_problems,
    path_segment_problems,
    qualified_name_problems,
    subdomain_problems,
)
from crossply.schema.field_errors import FieldError
from crossply.values import Object

_HIGHEST_PRIORITY = 1_000_000_000
_NAMESPACE_FINALIZER = "kubernetes"
_STANDARD_FINALIZERS = (_NAMESPACE_FINALIZER, "orphan", "foregroundDeletion")


class DefinitionStrategy(Strategy):
    """CustomResourceDefinitions. `apiextensions` validates what they define."""

    counts_generation = True

    def prepare_create(self, obj: Object) -> None:
        """Only the storage version is known at creation."""
        super().prepare_create(obj)
        stored = [
            version.get("name", "") for version in obj["spec"].get("versions") or () if version.get("storage")
        ]
        obj["status"]["storedVersions"] = stored


class PriorityClassStrategy(Strategy):
    """PriorityClasses: their generation is always one, because their value is immutable."""

    counts_generation = True
    generation_fields = ()

    def validate_create(self, obj: Object) -> list[FieldError]:
        """The highest priorities are reserved for the system."""
        if obj.get("value", 0) <= _HIGHEST_PRIORITY:
            return []
        detail = f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"
        return [forbidden("value", detail)]

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The value and preemption policy are immutable."""
        errors = []
        if new.get("value") != old.get("value"):
            errors.append(forbidden("value", "may not be changed in an update."))
        return errors + immutable(
            new.get("preemptionPolicy"), old.get("preemptionPolicy"), "preemptionPolicy"
        )


class EndpointSliceStrategy(Strategy):
    counts_generation = True
    generation_fields = ("endpoints", "ports", "addressType")

    def validate_create(self, obj: Object) -> list[FieldError]:
        kinds = ["FQDN", "IPv4", "IPv6"]
        if not obj.get("addressType"):
            return [required("addressType")]
        return one_of("addressType", obj["addressType"], kinds)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The address type is immutable."""
        return immutable(new.get("addressType"), old.get("addressType"), "addressType")


class PodTemplateStrategy(Strategy):
    counts_generation = True
    generation_fields = ("template",)


class LeaseStrategy(Strategy):
    allows_create_on_update = True
    allows_unconditional_update = False

    def prepare_create(self, obj: Object) -> None:
        """Drop the fields of coordinated leader election, which is not supported."""
        super().prepare_create(obj)
        self.prepare_update(obj, obj)

    def prepare_update(self, new: Object, old: Object) -> None:
        """Drop the fields of coordinated leader election."""
        for key in ("strategy", "preferredHolder"):
            (new.get("spec") or {}).pop(key, None)

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = []
        seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
        if seconds is not None and seconds <= 0:
            errors.append(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
        if transitions is not None and transitions < 0:
            detail = "must be greater than or equal to 0"
            errors.append(invalid("spec.leaseTransitions", transitions, detail))
        return errors


class BudgetStrategy(Strategy):
    counts_generation = True
    allows_unconditional_update = False

    def validate(self, obj: Object) -> list[FieldError]:
        """Either minAvailable or maxUnavailable."""
        spec = obj.get("spec") or {}
        errors: list[FieldError] = []
        if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
            detail = "minAvailable and maxUnavailable cannot be both set"
            errors.append(invalid("spec", spec, detail))
        for key in ("minAvailable", "maxUnavailable"):
            if spec.get(key) is not None:
                errors += count_or_percent(spec[key], f"spec.{key}") + at_most_all(spec[key], f"spec.{key}")
        return errors + label_selector(spec.get("selector"), "spec.selector")


class RuntimeClassStrategy(Strategy):
    allows_create_on_update = True
    allows_unconditional_update = False

    def validate(self, obj: Object) -> list[FieldError]:
        handler = obj.get("handler", "")
        return problems_at("handler", handler, dns_label_problems(handler))

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The handler is immutable."""
        return immutable(new.get("handler"), old.get("handler"), "handler")


class IngressClassStrategy(Strategy):
    counts_generation = True

    def validate_create(self, obj: Object) -> list[FieldError]:
        """A controller is a domain-prefixed path."""
        controller = (obj.get("spec") or {}).get("controller", "")
        if not controller:
            return [required("spec.controller")]
        domain, slash, path = controller.partition("/")
        if not slash or not domain or not path:
            detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
            return [invalid("spec.controller", controller, detail)]
        return problems_at("spec.controller", domain, subdomain_problems(domain))

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The controller is immutable."""
        after, before = (obj.get("spec") or {} for obj in (new, old))
        return immutable(after.get("controller"), before.get("controller"), "spec.controller")


class NodeStrategy(Strategy):
    """Nodes: the client that registers one also sets its status."""

    def prepare_create(self, obj: Object) -> None:
        obj["metadata"].pop("generation", None)


class APIServiceStrategy(Strategy):
    def name_problems(self, name: str) -> tuple[str, ...]:
        return path_segment_problems(name)

    def validate(self, obj: Object) -> list[FieldError]:
        """The name must be `version.group`."""
        spec = obj.get("spec") or {}
        name = (obj.get("metadata") or {}).get("name", "")
        expected_name = f"{spec.get('version', '')}.{spec.get('group', '')}"
        errors = []
        if name != expected_name:
            detail = f'must be `spec.version+"."+spec.group`: "{expected_name}"'
            errors.append(invalid("metadata.name", name, detail))
        return errors


class AutoscalerStrategy(Strategy):
    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        low, high = spec.get("minReplicas"), spec.get("maxReplicas", 0)
        errors = []
        if low is not None and low < 1:
            errors.append(invalid("spec.minReplicas", low, "must be greater than or equal to 1"))
        if high == 0:
            errors.append(required("spec.maxReplicas", "must be set and greater than 0"))
        elif high < 0:
            errors.append(invalid("spec.maxReplicas", high, "must be greater than or equal to 1"))
        if low is not None and high < low and high:
            detail = "must be greater than or equal to `minReplicas`"
            errors.append(invalid("spec.maxReplicas", high, detail))
        return errors + _check_target(spec.get("scaleTargetRef") or {}, "spec.scaleTargetRef")


def _check_target(target: Object, path: str) -> list[FieldError]:
    errors = [required(f"{path}.{key}") for key in ("kind", "name") if not target.get(key)]
    version = target.get("apiVersion", "")
    if "/" not in version:
        errors.append(invalid(f"{path}.apiVersion", version, "apiVersion must specify API group"))
    return errors


class NamespaceStrategy(Strategy):
    def name_problems(self, name: str) -> tuple[str, ...]:
        """A namespace name must be a DNS label."""
        return dns_label_problems(name)

    def prepare_create(self, obj: Object) -> None:
        """Add the finalizer that the namespace controller removes."""
        super().prepare_create(obj)
        spec = obj.setdefault("spec", {})
        finalizers = list(spec.get("finalizers") or ())
        if _NAMESPACE_FINALIZER not in finalizers:
            finalizers.append(_NAMESPACE_FINALIZER)
        spec["finalizers"] = finalizers

    def prepare_update(self, new: Object, old: Object) -> None:
        """Finalizers change by the finalize subresource only."""
        super().prepare_update(new, old)
        finalizers = (old.get("spec") or {}).get("finalizers")
        new["spec"] = {**(new.get("spec") or {}), "finalizers": finalizers}
        if finalizers is None:
            del new["spec"]["finalizers"]

    def validate_create(self, obj: Object) -> list[FieldError]:
        return _check_finalizers(obj, "spec.finalizers")


def _check_finalizers(obj: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name in (obj.get("spec") or {}).get("finalizers") or ():
        errors += problems_at(path, name, qualified_name_problems(name))
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid(path, name, detail))
    return errors
