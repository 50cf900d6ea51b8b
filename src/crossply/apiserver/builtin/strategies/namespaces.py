"""The strategy of Namespaces."""

from __future__ import annotations

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import invalid, problems_at
from crossply.apiserver.registry.name_validation import dns_label_problems, qualified_name_problems
from crossply.schema.field_errors import FieldError
from crossply.values import Object

FINALIZER = "kubernetes"
_STANDARD = (FINALIZER, "orphan", "foregroundDeletion")


class NamespaceStrategy(Strategy):
    def name_problems(self, name: str) -> tuple[str, ...]:
        """A namespace name must be a DNS label."""
        return dns_label_problems(name)

    def prepare_create(self, obj: Object) -> None:
        """Add the finalizer that the namespace controller removes."""
        super().prepare_create(obj)
        spec = obj.setdefault("spec", {})
        finalizers = list(spec.get("finalizers") or ())
        if FINALIZER not in finalizers:
            finalizers.append(FINALIZER)
        spec["finalizers"] = finalizers

    def prepare_update(self, new: Object, old: Object) -> None:
        """Finalizers change by the finalize subresource only."""
        super().prepare_update(new, old)
        finalizers = (old.get("spec") or {}).get("finalizers")
        new["spec"] = {**(new.get("spec") or {}), "finalizers": finalizers}
        if finalizers is None:
            del new["spec"]["finalizers"]

    def validate_create(self, obj: Object) -> list[FieldError]:
        return check_finalizers(obj, "spec.finalizers")


def check_finalizers(obj: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name in (obj.get("spec") or {}).get("finalizers") or ():
        errors += problems_at(path, name, qualified_name_problems(name))
        if "/" not in name and name not in _STANDARD:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid(path, name, detail))
    return errors
