"""HorizontalPodAutoscalers."""

from __future__ import annotations

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import invalid, required
from crossply.schema.field_errors import FieldError
from crossply.values import Object


class AutoscalerStrategy(Strategy):
    """HorizontalPodAutoscalers."""

    def validate(self, obj: Object) -> list[FieldError]:
        """Check the bounds and what is scaled."""
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
