"""The cells of role bindings, webhooks, admission policies, budgets and autoscalers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from crossply.apiserver.builtin.printers.metadata import age_of, name_of, selector_text
from crossply.apiserver.tables.human_duration import human_duration
from crossply.values import Object


def _binding(obj: Object, now: datetime) -> list[Any]:
    role = obj.get("roleRef") or {}
    subjects = obj.get("subjects") or ()
    accounts = [
        f"{subject.get('namespace', '')}/{subject.get('name', '')}"
        for subject in subjects
        if subject.get("kind") == "ServiceAccount"
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
    return ", ".join(subject.get("name", "") for subject in subjects if subject.get("kind") == kind)


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
    from crossply.apiserver.builtin.conversions import to_v2

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
    kinds = {condition.get("type") for condition in status.get("conditions") or ()}
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


_SHOWN = 2
_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def targets_text(specs: Sequence[Object], statuses: Sequence[Object]) -> str:
    """The targets of an autoscaler."""
    if not specs:
        return "<none>"
    texts = [
        _target(spec, statuses[index] if index < len(statuses) else {}) for index, spec in enumerate(specs)
    ]
    shown = ", ".join(texts[:_SHOWN])
    return f"{shown} + {len(texts) - _SHOWN} more..." if len(texts) > _SHOWN else shown


def _target(spec: Object, status: Object) -> str:
    source = _SOURCES.get(spec.get("type", ""))
    if source is None:
        return "<unknown type>"
    aim = (spec.get(source) or {}).get("target") or {}
    now = (status.get(source) or {}).get("current") or {}
    if source in ("resource", "containerResource"):
        return f"{(spec.get(source) or {}).get('name', '')}: {_resource(aim, now)}"
    if source == "pods":
        return f"{now.get('averageValue', '<unknown>')}/{aim.get('averageValue', '0')}"
    if "averageValue" in aim:
        return f"{now.get('averageValue', '<unknown>')}/{aim['averageValue']} (avg)"
    return f"{now.get('value', '<unknown>')}/{aim.get('value', '0')}"


def _resource(aim: Object, now: Object) -> str:
    if "averageValue" in aim:
        return f"{now.get('averageValue', '<unknown>')}/{aim['averageValue']}"
    current = _percent(now.get("averageUtilization"), "<unknown>")
    return f"{current}/{_percent(aim.get('averageUtilization'), '<auto>')}"


def _percent(value: Any, absent: str) -> str:
    return absent if value is None else f"{value}%"
