"""The cells of ConfigMaps, Secrets, Namespaces, Leases, Nodes, Events and the like."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from crossply.apiserver.builtin.conversions import to_core
from crossply.apiserver.builtin.printers.metadata import age_of, name_and_age, name_of
from crossply.apiserver.tables.human_duration import since
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
    current = next((condition for condition in conditions if condition.get("type") == "Available"), None)
    available = "Unknown"
    if current:
        available = current.get("status", "")
        if available != "True":
            available = f"{available} ({current.get('reason', '')})"
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
    ready = next(
        (condition for condition in status.get("conditions") or () if condition.get("type") == "Ready"), None
    )
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
    for address in status.get("addresses") or ():
        if address.get("type") == kind:
            return str(address.get("address", ""))
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


def _event(obj: Object, now: datetime) -> list[Any]:
    event = to_core(obj)
    involved = event.get("involvedObject") or {}
    first = since(event.get("firstTimestamp") or event.get("eventTime"), now)
    last = since(event["lastTimestamp"], now) if event.get("lastTimestamp") else first
    count = event.get("count") or 1
    series = event.get("series")
    if series:
        last, count = since(series.get("lastObservedTime"), now), series.get("count", 0)
    kind = str(involved.get("kind", "")).lower()
    return [
        last,
        event.get("type", ""),
        event.get("reason", ""),
        f"{kind}/{involved['name']}" if involved.get("name") else kind,
        involved.get("fieldPath", ""),
        _source(event),
        str(event.get("message", "")).strip(),
        first,
        count,
        name_of(event),
    ]


def _source(event: Object) -> str:
    source = event.get("source") or {}
    component = source.get("component") or event.get("reportingComponent") or ""
    instance = source.get("host") or event.get("reportingInstance") or ""
    return f"{component}, {instance}" if instance else str(component)


EVENT_CELLS = {("", "events"): _event, ("events.k8s.io", "events"): _event}
