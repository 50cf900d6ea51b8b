"""Defaults of Services, endpoints and network policies."""

from __future__ import annotations

from crossply.apiserver.builtin.defaults.pods import setting
from crossply.values import Object

_NET = "io.k8s.api.networking.v1"
_SINGLE_ADDRESS = ("ClusterIP", "NodePort", "LoadBalancer")
_THREE_HOURS = 10800


def _service(service: Object) -> None:
    spec = service["spec"]
    _affinity(spec)
    spec.setdefault("type", "ClusterIP")
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if spec["type"] in ("NodePort", "LoadBalancer") or (
        spec["type"] == "ClusterIP" and spec.get("externalIPs")
    ):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] in _SINGLE_ADDRESS:
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for point in service["status"]["loadBalancer"].get("ingress") or ():
            if point.get("ip"):
                point.setdefault("ipMode", "VIP")


def _affinity(spec: Object) -> None:
    spec.setdefault("sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        client.setdefault("timeoutSeconds", _THREE_HOURS)
        spec["sessionAffinityConfig"] = {"clientIP": client}


def _network_policy_spec(spec: Object) -> None:
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


DEFAULTS = {
    "io.k8s.api.core.v1.Service": _service,
    "io.k8s.api.core.v1.EndpointPort": setting(protocol="TCP"),
    "io.k8s.api.discovery.v1.EndpointPort": setting(name="", protocol="TCP"),
    f"{_NET}.NetworkPolicyPort": setting(protocol="TCP"),
    f"{_NET}.NetworkPolicySpec": _network_policy_spec,
    f"{_NET}.IngressClassParametersReference": setting(scope="Cluster"),
}
