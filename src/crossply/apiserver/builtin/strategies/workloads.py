"""Strategies of workloads: selectors must match templates, and are immutable."""

from __future__ import annotations

from crossply.apiserver.builtin.defaults.workloads import TEMPLATE_GENERATION
from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import (
    at_most_all,
    count_or_percent,
    forbidden,
    immutable,
    invalid,
    is_selector,
    label_selector,
    not_negative,
    one_of,
    problems_at,
    required,
    selects,
)
from crossply.apiserver.builtin.strategies.pod_specs import check_template
from crossply.apiserver.registry.name_validation import dns_label_problems
from crossply.schema.field_errors import FieldError, unsupported
from crossply.values import Object

_MISMATCH = "`selector` does not match template `labels`"
_STATEFUL_CHANGEABLE = {
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
}
_STATEFUL_FIXED = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


def check_selected(spec: Object, path: str, kind: str, label: str) -> list[FieldError]:
    """Validate a selector and the template that it must match."""
    selector = spec.get("selector")
    needed = selector is None and kind != "daemonset"
    errors = [required(f"{path}.selector")] if needed else []
    if selector is not None:
        errors += label_selector(selector, f"{path}.selector")
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            errors.append(invalid(f"{path}.selector", selector, f"empty selector is invalid for {kind}"))
    if not is_selector(selector):
        return [*errors, invalid(f"{path}.selector", selector, "invalid label selector")]
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels")
    if selector is None or not selects(selector, labels or {}):
        errors.append(invalid(f"{path}.template.metadata.labels", labels, _MISMATCH))
    return errors + check_running(template, f"{path}.template", label)


def check_running(template: Object, path: str, label: str) -> list[FieldError]:
    """Validate the template of Pods that run forever."""
    errors = check_template(template, path)
    pod = template.get("spec") or {}
    errors += one_of(f"{path}.spec.restartPolicy", pod.get("restartPolicy", ""), ["Always"])
    if pod.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {label} is not Supported"
        errors.append(forbidden(f"{path}.spec.activeDeadlineSeconds", detail))
    return errors


class DeploymentStrategy(Strategy):
    counts_generation = True

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = not_negative(spec, "spec", "replicas")
        errors += check_selected(spec, "spec", "deployment", "ReplicaSet")
        errors += _check_rollout(spec.get("strategy") or {}, "spec.strategy")
        errors += not_negative(spec, "spec", "minReadySeconds", "revisionHistoryLimit")
        deadline = spec.get("progressDeadlineSeconds")
        if deadline is not None and deadline <= spec.get("minReadySeconds", 0):
            detail = "must be greater than minReadySeconds"
            errors.append(invalid("spec.progressDeadlineSeconds", deadline, detail))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The selector is immutable."""
        return self.validate(new) + _fixed_selector(new, old)


def _fixed_selector(new: Object, old: Object) -> list[FieldError]:
    return immutable(new["spec"].get("selector"), old["spec"].get("selector"), "spec.selector")


def _check_rollout(strategy: Object, path: str) -> list[FieldError]:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is None:
            return []
        detail = "may not be specified when strategy `type` is 'Recreate'"
        return [forbidden(f"{path}.rollingUpdate", detail)]
    if kind != "RollingUpdate":
        return [unsupported(path, strategy, ["Recreate", "RollingUpdate"])]
    at = f"{path}.rollingUpdate"
    unavailable, more = (rolling or {}).get("maxUnavailable", 0), (rolling or {}).get("maxSurge", 0)
    errors = count_or_percent(unavailable, f"{at}.maxUnavailable") + count_or_percent(more, f"{at}.maxSurge")
    if unavailable in (0, "0%") and more in (0, "0%"):
        errors.append(invalid(f"{at}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0"))
    return errors + at_most_all(unavailable, f"{at}.maxUnavailable")


class ReplicaSetStrategy(Strategy):
    counts_generation = True

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = not_negative(spec, "spec", "replicas", "minReadySeconds")
        return errors + check_selected(spec, "spec", "replicaset", "ReplicaSet")

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The selector is immutable."""
        return self.validate(new) + _fixed_selector(new, old)


class StatefulSetStrategy(Strategy):
    counts_generation = True

    def name_problems(self, name: str) -> tuple[str, ...]:
        """The names of its Pods start with its name."""
        return dns_label_problems(name)

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = []
        if spec.get("podManagementPolicy") not in ("OrderedReady", "Parallel"):
            detail = "must be 'OrderedReady' or 'Parallel'"
            errors.append(invalid("spec.podManagementPolicy", spec.get("podManagementPolicy"), detail))
        strategy = spec.get("updateStrategy") or {}
        if strategy.get("type") not in ("RollingUpdate", "OnDelete"):
            detail = "must be 'RollingUpdate' or 'OnDelete'"
            errors.append(invalid("spec.updateStrategy", strategy, detail))
        errors += not_negative(spec, "spec", "replicas", "minReadySeconds")
        service = spec.get("serviceName")
        if service:
            errors += problems_at("spec.serviceName", service, dns_label_problems(service))
        return errors + check_selected(spec, "spec", "statefulset", "StatefulSet")

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """Only few fields of a StatefulSet may change."""
        errors = self.validate(new)
        after, before = (
            {key: value for key, value in obj["spec"].items() if key not in _STATEFUL_CHANGEABLE}
            for obj in (new, old)
        )
        return errors + ([] if after == before else [forbidden("spec", _STATEFUL_FIXED)])


class DaemonSetStrategy(Strategy):
    counts_generation = True

    def prepare_create(self, obj: Object) -> None:
        """Set the deprecated annotation that counts generations of the template."""
        super().prepare_create(obj)
        _annotate(obj, 1)

    def prepare_update(self, new: Object, old: Object) -> None:
        """Increase it when the template changes."""
        super().prepare_update(new, old)
        annotations = (old["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "0")
        count = int(annotations) if annotations.isdigit() else 0
        changed = new["spec"].get("template") != old["spec"].get("template")
        changed = changed or new["spec"].get("updateStrategy") != old["spec"].get("updateStrategy")
        _annotate(new, count + changed)

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = check_selected(spec, "spec", "daemonset", "DaemonSet")
        errors += not_negative(spec, "spec", "minReadySeconds", "revisionHistoryLimit")
        strategy = spec.get("updateStrategy") or {}
        if strategy.get("type") not in ("RollingUpdate", "OnDelete"):
            errors.append(unsupported("spec.updateStrategy", strategy, ["RollingUpdate", "OnDelete"]))
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The selector is immutable."""
        return _fixed_selector(new, old) + self.validate(new)


def _annotate(obj: Object, generation: int) -> None:
    annotations = obj["metadata"].get("annotations") or {}
    obj["metadata"]["annotations"] = {**annotations, TEMPLATE_GENERATION: str(generation)}


class ReplicationControllerStrategy(Strategy):
    """ReplicationControllers, whose selector is a set of labels."""

    counts_generation = True

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = not_negative(spec, "spec", "minReadySeconds")
        if not spec.get("selector"):
            errors.append(required("spec.selector"))
        errors += not_negative(spec, "spec", "replicas")
        template = spec.get("template")
        if template is None:
            return [*errors, required("spec.template")]
        labels = (template.get("metadata") or {}).get("labels")
        if not selects({"matchLabels": spec.get("selector")}, labels or {}):
            errors.append(invalid("spec.template.metadata.labels", labels, _MISMATCH))
        return errors + check_running(template, "spec.template", "ReplicationController")
