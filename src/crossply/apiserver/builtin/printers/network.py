"""The cells of Services, Ingresses and related kinds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from crossply.apiserver.builtin.printers.metadata import age_of, labels_text, name_of, selector_or_none
from crossply.values import Object

_SHOWN = 3


def _service(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        name_of(obj),
        spec.get("type", ""),
        (spec.get("clusterIPs") or ["<none>"])[0],
        _external(obj, spec),
        ",".join(map(_port, spec.get("ports") or ())) or "<none>",
        age_of(obj, now),
        labels_text(spec.get("selector")),
    ]


def _port(port: Object) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node}/{port.get('protocol', '')}"


def _external(obj: Object, spec: Object) -> str:
    kind = spec.get("type")
    addresses = list(spec.get("externalIPs") or ())
    if kind in ("ClusterIP", "NodePort"):
        return ",".join(addresses) or "<none>"
    if kind == "LoadBalancer":
        balanced = _balancer(obj)
        return ",".join(([balanced] if balanced else []) + addresses) or "<pending>"
    return str(spec.get("externalName", "")) if kind == "ExternalName" else "<unknown>"


def _balancer(obj: Object) -> str:
    points = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return ",".join(sorted({point.get("ip") or point.get("hostname") or "" for point in points} - {""}))


def _ingress(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        name_of(obj),
        spec.get("ingressClassName", "<none>"),
        _hosts(spec.get("rules") or ()),
        _balancer(obj),
        "80, 443" if spec.get("tls") else "80",
        age_of(obj, now),
    ]


def _hosts(rules: Sequence[Object]) -> str:
    hosts: list[str] = []
    more = False
    for rule in rules:
        more = more or len(hosts) == _SHOWN
        if not more and rule.get("host"):
            hosts.append(rule["host"])
    shown = ",".join(hosts) or "*"
    return f"{shown} + {len(rules) - _SHOWN} more..." if more else shown


def _ingress_class(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    default = annotations.get("ingressclass.kubernetes.io/is-default-class") == "true"
    parameters = spec.get("parameters")
    shown = "<none>"
    if parameters:
        group = f".{parameters['apiGroup']}" if "apiGroup" in parameters else ""
        shown = f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"
    name = name_of(obj) + (" (default)" if default else "")
    return [name, spec.get("controller", ""), shown, age_of(obj, now)]


def _network_policy(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), selector_or_none((obj.get("spec") or {}).get("podSelector")), age_of(obj, now)]


def _endpoints(obj: Object, now: datetime) -> list[Any]:
    endpoints = []
    for subset in obj.get("subsets") or ():
        addresses = [address.get("ip", "") for address in subset.get("addresses") or ()]
        ports = subset.get("ports")
        if not ports:
            endpoints += addresses
        endpoints += [_host_port(ip, port.get("port", 0)) for port in ports or () for ip in addresses]
    shown = _some(endpoints) if obj.get("subsets") else "<none>"
    return [name_of(obj), shown, age_of(obj, now)]


def _host_port(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def _some(texts: Sequence[str]) -> str:
    shown = ",".join(texts[:_SHOWN])
    return f"{shown} + {len(texts) - _SHOWN} more..." if len(texts) > _SHOWN else shown


def _endpoint_slice(obj: Object, now: datetime) -> list[Any]:
    ports = [str(port.get("port") or port.get("name", "*")) for port in obj.get("ports") or ()]
    addresses = [
        address for endpoint in obj.get("endpoints") or () for address in endpoint.get("addresses") or ()
    ]
    return [
        name_of(obj),
        obj.get("addressType", ""),
        _some(ports) or "<unset>",
        _some(addresses) or "<unset>",
        age_of(obj, now),
    ]


CELLS = {
    ("", "services"): _service,
    ("", "endpoints"): _endpoints,
    ("networking.k8s.io", "ingresses"): _ingress,
    ("networking.k8s.io", "ingressclasses"): _ingress_class,
    ("networking.k8s.io", "networkpolicies"): _network_policy,
    ("discovery.k8s.io", "endpointslices"): _endpoint_slice,
}
