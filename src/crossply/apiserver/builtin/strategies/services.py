"""The strategy of Services: ports and cluster IPs.

There is no network behind these Services, so addresses are not allocated: a cluster IP is derived from the
name of the Service and does not change.
"""

from __future__ import annotations

import hashlib
from typing import Any

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import (
    duplicate,
    forbidden,
    invalid,
    one_of,
    problems_at,
    required,
)
from crossply.apiserver.builtin.strategies.pod_specs import PROTOCOLS, check_port, port_name_problems
from crossply.apiserver.registry.metadata_validation import check_labels
from crossply.apiserver.registry.name_validation import dns_label_problems, subdomain_problems
from crossply.schema.field_errors import FieldError
from crossply.values import Object

_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")
_CHOICES = {
    "ipFamilyPolicy": ["PreferDualStack", "RequireDualStack", "SingleStack"],
    "externalTrafficPolicy": ["Cluster", "Local"],
    "internalTrafficPolicy": ["Cluster", "Local"],
}
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_FIRST_NODE_PORT, _NODE_PORTS = 30000, 2768
_EXTERNAL = ("may not be set for ExternalName services", ("clusterIPs", "ipFamilies", "ipFamilyPolicy"))


class ServiceStrategy(Strategy):
    allows_create_on_update = True

    def name_problems(self, name: str) -> tuple[str, ...]:
        """The name of a Service must be a DNS-1035 label."""
        return dns_label_problems(name)

    def prepare_create(self, obj: Object) -> None:
        """Assign the cluster IP."""
        super().prepare_create(obj)
        _address(obj)

    def prepare_update(self, new: Object, old: Object) -> None:
        """Keep the assigned cluster IPs."""
        super().prepare_update(new, old)
        before, after = old["spec"], new["spec"]
        if "ExternalName" not in (before.get("type"), after.get("type")):
            for key in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
                if not after.get(key) and before.get(key):
                    after[key] = before[key]
            same = after.get("clusterIPs") == before.get("clusterIPs")
            if same and after.get("clusterIP") != before.get("clusterIP"):
                after["clusterIPs"] = [after["clusterIP"]]
        _drop_unused(after, before)
        _keep_node_ports(after, before)
        _address(new)

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        kind, headless = spec.get("type", ""), spec.get("clusterIP") == "None"
        ports = spec.get("ports") or ()
        errors = []
        if not ports and not headless and kind != "ExternalName":
            errors.append(required("spec.ports"))
        errors += _check_kind(spec, kind, headless)
        names: set[str] = set()
        for index, port in enumerate(ports):
            errors += _check_port(port, f"spec.ports[{index}]", len(ports) > 1, names)
        errors += check_labels(spec.get("selector"), "spec.selector")
        errors += one_of("spec.sessionAffinity", spec.get("sessionAffinity", ""), ["ClientIP", "None"])
        errors += one_of("spec.type", kind, _TYPES)
        return errors + _check_choices(spec) + _check_repeated(ports, kind)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """A cluster IP is immutable while the Service has one."""
        before, after = old["spec"], new["spec"]
        errors = []
        has_ports = "ExternalName" not in (before.get("type"), after.get("type"))
        if has_ports and before.get("clusterIP") and after.get("clusterIP") != before["clusterIP"]:
            detail = "may not change once set"
            errors.append(invalid("spec.clusterIPs[0]", after.get("clusterIPs"), detail))
        return errors + self.validate(new)


def _check_choices(spec: Object) -> list[FieldError]:
    """Optional fields with a fixed set of values."""
    errors = [
        error
        for key in _CHOICES
        if spec.get(key)
        for error in one_of(f"spec.{key}", spec[key], _CHOICES[key])
    ]
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        errors += one_of(f"spec.ipFamilies[{index}]", family, ["IPv4", "IPv6"])
    return errors


def _check_kind(spec: Object, kind: str, headless: bool) -> list[FieldError]:
    if headless and kind in ("LoadBalancer", "NodePort"):
        return [invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")]
    if kind != "ExternalName":
        return []
    errors = [forbidden(f"spec.{key}", _EXTERNAL[0]) for key in _EXTERNAL[1] if spec.get(key)]
    name = spec.get("externalName", "").removesuffix(".")
    if not name:
        return [*errors, required("spec.externalName")]
    return errors + problems_at("spec.externalName", name, subdomain_problems(name))


def _check_port(port: Object, path: str, named: bool, names: set[str]) -> list[FieldError]:
    name = port.get("name", "")
    errors: list[FieldError] = []
    if name:
        errors += problems_at(f"{path}.name", name, dns_label_problems(name))
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
    elif named:
        errors.append(required(f"{path}.name"))
    errors += check_port(port.get("port", 0), f"{path}.port")
    errors += one_of(f"{path}.protocol", port.get("protocol", ""), PROTOCOLS)
    target = port.get("targetPort", 0)
    if isinstance(target, str):
        return errors + problems_at(f"{path}.targetPort", target, port_name_problems(target))
    return errors + check_port(target, f"{path}.targetPort")


def _check_repeated(ports: Any, kind: str) -> list[FieldError]:
    errors: list[FieldError] = []
    known_ports: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        if kind == "ClusterIP" and port.get("nodePort"):
            detail = "may not be used when `type` is 'ClusterIP'"
            errors.append(forbidden(f"spec.ports[{index}].nodePort", detail))
    for index, port in enumerate(ports):
        key = (port.get("protocol", ""), port.get("port", 0))
        if key in known_ports:
            # Go shows the internal struct that it looked up.
            shown = {"Name": "", "Protocol": key[0], "AppProtocol": None, "Port": key[1], "TargetPort": 0}
            errors.append(duplicate(f"spec.ports[{index}]", {**shown, "NodePort": 0}))
        known_ports.add(key)
    return errors


def _address(obj: Object) -> None:
    spec = obj["spec"]
    if spec.get("type") == "ExternalName":
        return
    if not spec.get("clusterIP"):
        spec["clusterIP"] = (spec.get("clusterIPs") or [_derived_address(obj)])[0]
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    # A Service without a cluster IP and selector has no endpoints.
    both = spec["clusterIP"] == "None" and not spec.get("selector")
    family = "IPv6" if ":" in spec["clusterIP"] else "IPv4"
    spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if both else [family])
    spec.setdefault("ipFamilyPolicy", "RequireDualStack" if both else "SingleStack")
    balanced = spec.get("type") == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)
    if spec.get("type") == "NodePort" or balanced:
        for port in spec.get("ports") or ():
            if not port.get("nodePort"):
                number = _digest(obj, f"{port.get('protocol')}/{port.get('port')}")
                port["nodePort"] = _FIRST_NODE_PORT + number % _NODE_PORTS


def _derived_address(obj: Object) -> str:
    number = 2 + _digest(obj, "address") % (2**16 - 3)
    return f"10.96.{number >> 8}.{number & 255}"


def _digest(obj: Object, use: str) -> int:
    metadata = obj.get("metadata") or {}
    text = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}/{use}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def _drop_unused(after: Object, before: Object) -> None:
    """Remove the fields of the former type that the new one cannot have, if they are unchanged."""
    kind, former = after.get("type"), before.get("type")
    if kind == former:
        return
    if kind == "ExternalName":
        for key in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"):
            _drop_same(after, before, key)
    if kind not in _WITH_NODE_PORTS:
        numbers = {port.get("nodePort") for port in before.get("ports") or ()}
        for port in after.get("ports") or ():
            if port.get("nodePort") in numbers:
                port.pop("nodePort", None)
        if not after.get("externalIPs"):
            _drop_same(after, before, "externalTrafficPolicy")
    if former == "LoadBalancer":
        for key in ("allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"):
            _drop_same(after, before, key)


def _drop_same(after: Object, before: Object, key: str) -> None:
    if key in after and after[key] == before.get(key):
        del after[key]


def _keep_node_ports(after: Object, before: Object) -> None:
    if after.get("type") not in _WITH_NODE_PORTS:
        return
    known = {
        (port.get("protocol"), port.get("port")): port["nodePort"]
        for port in before.get("ports") or ()
        if port.get("nodePort")
    }
    for port in after.get("ports") or ():
        number = known.get((port.get("protocol"), port.get("port")))
        if number and not port.get("nodePort"):
            port["nodePort"] = number
