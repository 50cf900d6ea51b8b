"""The strategy of Pods, which are validated although nothing runs them here."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import forbidden
from crossply.apiserver.builtin.strategies.pod_specs import check_spec
from crossply.schema.field_errors import FieldError
from crossply.values import Object

_NOT_READY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_CHANGEABLE = ("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates")
_UPDATES = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
    "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)"
)


class PodStrategy(Strategy):
    counts_generation = True

    def prepare_create(self, obj: Object) -> None:
        """Set what admission would: the service account, the priority, default tolerations."""
        super().prepare_create(obj)
        spec = obj["spec"]
        spec.setdefault("serviceAccountName", "default")
        spec["serviceAccount"] = spec["serviceAccountName"]
        spec.setdefault("priority", 0)
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
        spec["tolerations"] = _tolerations(spec.get("tolerations") or [])
        obj["status"] = {"phase": "Pending", "qosClass": quality(spec)}

    def validate(self, obj: Object) -> list[FieldError]:
        return check_spec(obj.get("spec") or {}, "spec")

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """Only the images and few other fields of a Pod may change."""
        errors = self.validate(new)
        before, after = old.get("spec") or {}, new.get("spec") or {}
        if len(before.get("containers") or ()) != len(after.get("containers") or ()):
            errors.append(forbidden("spec.containers", "pod updates may not add or remove containers"))
        elif _fixed(after) != _fixed(before):
            errors.append(forbidden("spec", _UPDATES))
        return errors


def _fixed(spec: Object) -> Object:
    fixed = {key: value for key, value in spec.items() if key not in _CHANGEABLE}
    for key in ("containers", "initContainers"):
        fixed[key] = [{**container, "image": ""} for container in spec.get(key) or ()]
    return fixed


def _tolerations(tolerations: list[Any]) -> list[Any]:
    tolerated = {
        toleration.get("key")
        for toleration in tolerations
        if not toleration.get("effect") or toleration["effect"] == "NoExecute"
    }
    if None in tolerated or "" in tolerated:
        return tolerations
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in _NOT_READY
        if key not in tolerated
    ]
    return tolerations + added


def quality(spec: Object) -> str:
    """The quality of service class of a Pod."""
    requests_resources, guaranteed = False, True
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        resources = container.get("resources") or {}
        limits, requests = (_counted(resources.get(key)) for key in ("limits", "requests"))
        requests_resources = requests_resources or bool(limits or requests)
        guaranteed = guaranteed and len(limits) == 2 and limits == requests
    if not requests_resources:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def _counted(amounts: Object | None) -> Object:
    return {key: value for key, value in (amounts or {}).items() if key in ("cpu", "memory") and value != "0"}
