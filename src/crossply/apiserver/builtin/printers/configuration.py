"""The cells of kinds that hold settings: ConfigMaps, Secrets, Namespaces, Leases, Nodes and the like."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crossply.apiserver.builtin.printers.metadata import age_of, name_and_age, name_of
from crossply.values import Object

_ROLE_PREFIX, _ROLE = "node-role.kubernetes.io/", "kubernetes.io/role"


def _config_map(obj: Object, now: datetime) -> list[Any]:
    count = len(obj.get("data") or ()) + len(obj.get("binaryData") or ())
    return [name_of(obj), count, age_of(obj, now)]


def _secret(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), obj.get("type", ""), len(obj.get("data") or ()), age_of(obj, now)]


def _namespace(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), (obj.get("status") or {}).get("phase", ""), age_of(obj, now)]


def _lease(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), (obj.get("spec") or {}).get("holderIdentity", ""), age_of(obj, now)]


def _quota(obj: Object, now: datetime) -> list[Any]:
    status = obj.get("status") or {}
    used, hard = status.get("used") or {}, status.get("hard") or {}
    requests: list[str] = []
    limits: list[str] = []
    for name in sorted(hard):
        column = limits if name.startswith("limits.") else requests
        column.append(f"{name}: {used.get(name, '0')}/{hard[name]}")
    return [name_of(obj), ", ".join(requests), ", ".join(limits), age_of(obj, now)]


def _priority_class(obj: Object, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age_of(obj, now),
        obj.get("preemptionPolicy", ""),
    ]


def _runtime_class(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), obj.get("handler", ""), age_of(obj, now)]


def _api_service(obj: Object, now: datetime) -> list[Any]:
    service = (obj.get("spec") or {}).get("service")
    shown = f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local"
    conditions = (obj.get("status") or {}).get("conditions") or ()
    found = next((each for each in conditions if each.get("type") == "Available"), None)
    available = "Unknown"
    if found:
        available = found.get("status", "")
        if available != "True":
            available = f"{available} ({found.get('reason', '')})"
    return [name_of(obj), shown, available, age_of(obj, now)]


def _node(obj: Object, now: datetime) -> list[Any]:
    status = obj.get("status") or {}
    info = status.get("nodeInfo") or {}
    kernel = info.get("kernelVersion") or "<unknown>"
    if info.get("architecture"):
        kernel += f" ({info['architecture']})"
    return [
        name_of(obj),
        _node_state(obj, status),
        _roles(obj),
        age_of(obj, now),
        info.get("kubeletVersion", ""),
        _address(status, "InternalIP"),
        _address(status, "ExternalIP"),
        info.get("osImage") or "<unknown>",
        kernel,
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


def _node_state(obj: Object, status: Object) -> str:
    ready = next((each for each in status.get("conditions") or () if each.get("type") == "Ready"), None)
    state = "Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{state},SchedulingDisabled" if (obj.get("spec") or {}).get("unschedulable") else state


def _roles(obj: Object) -> str:
    roles = set()
    for key, value in ((obj.get("metadata") or {}).get("labels") or {}).items():
        if key.startswith(_ROLE_PREFIX):
            roles.add(key.removeprefix(_ROLE_PREFIX))
        elif key == _ROLE:
            roles.add(value)
    return ",".join(sorted(roles - {""})) or "<none>"


def _address(status: Object, kind: str) -> str:
    for each in status.get("addresses") or ():
        if each.get("type") == kind:
            return str(each.get("address", ""))
    return "<none>"


CELLS = {
    ("", "configmaps"): _config_map,
    ("", "secrets"): _secret,
    ("", "namespaces"): _namespace,
    ("", "serviceaccounts"): name_and_age,
    ("", "nodes"): _node,
    ("", "resourcequotas"): _quota,
    ("coordination.k8s.io", "leases"): _lease,
    ("scheduling.k8s.io", "priorityclasses"): _priority_class,
    ("node.k8s.io", "runtimeclasses"): _runtime_class,
    ("apiregistration.k8s.io", "apiservices"): _api_service,
}
