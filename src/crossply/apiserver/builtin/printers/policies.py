"""The cells of what governs others: role bindings, webhooks, admission policies, budgets, autoscalers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crossply.apiserver.builtin.printers.metadata import age_of, name_of
from crossply.apiserver.builtin.printers.metrics import targets_text
from crossply.apiserver.builtin.printers.selectors import selector_text
from crossply.apiserver.tables.human_duration import human_duration
from crossply.values import Object


def _binding(obj: Object, now: datetime) -> list[Any]:
    role = obj.get("roleRef") or {}
    subjects = obj.get("subjects") or ()
    accounts = [
        f"{each.get('namespace', '')}/{each.get('name', '')}"
        for each in subjects
        if each.get("kind") == "ServiceAccount"
    ]
    return [
        name_of(obj),
        f"{role.get('kind', '')}/{role.get('name', '')}",
        age_of(obj, now),
        _names(subjects, "User"),
        _names(subjects, "Group"),
        ", ".join(accounts),
    ]


def _names(subjects: Any, kind: str) -> str:
    return ", ".join(each.get("name", "") for each in subjects if each.get("kind") == kind)


def _webhooks(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), len(obj.get("webhooks") or ()), age_of(obj, now)]


def _policy(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    kind = spec.get("paramKind")
    shown = f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else "<unset>"
    return [name_of(obj), len(spec.get("validations") or ()), shown, age_of(obj, now)]


def _policy_binding(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    parameters = spec.get("paramRef") or {}
    shown = "<unset>"
    if parameters.get("name"):
        shown = f"{parameters.get('namespace') or '*'}/{parameters['name']}"
    elif parameters.get("selector") is not None:
        shown = selector_text(parameters["selector"])
    return [name_of(obj), spec.get("policyName", ""), shown, age_of(obj, now)]


def _budget(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        name_of(obj),
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        (obj.get("status") or {}).get("disruptionsAllowed", 0),
        age_of(obj, now),
    ]


def _autoscaler(obj: Object, now: datetime) -> list[Any]:
    from crossply.apiserver.builtin.autoscaler_conversion import to_v2

    obj = to_v2(obj)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    target = spec.get("scaleTargetRef") or {}
    return [
        name_of(obj),
        f"{target.get('kind', '')}/{target.get('name', '')}",
        targets_text(spec.get("metrics") or (), status.get("currentMetrics") or ()),
        str(spec.get("minReplicas", "<unset>")),
        spec.get("maxReplicas", 0),
        status.get("currentReplicas", 0),
        age_of(obj, now),
    ]


def _signing_request(obj: Object, now: datetime) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    kinds = {each.get("type") for each in status.get("conditions") or ()}
    state = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    state += ",Failed" if "Failed" in kinds else ""
    state += ",Issued" if status.get("certificate") else ""
    seconds = spec.get("expirationSeconds")
    return [
        name_of(obj),
        age_of(obj, now),
        spec.get("signerName") or "<none>",
        spec.get("username", ""),
        "<none>" if seconds is None else human_duration(seconds),
        state,
    ]


CELLS = {
    ("rbac.authorization.k8s.io", "rolebindings"): _binding,
    ("rbac.authorization.k8s.io", "clusterrolebindings"): _binding,
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): _webhooks,
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"): _webhooks,
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"): _policy,
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"): _policy_binding,
    ("policy", "poddisruptionbudgets"): _budget,
    ("autoscaling", "horizontalpodautoscalers"): _autoscaler,
    ("certificates.k8s.io", "certificatesigningrequests"): _signing_request,
}
