"""Strategies of NetworkPolicies and Ingresses."""

from __future__ import annotations

import ipaddress
from typing import Any

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import (
    forbidden,
    invalid,
    label_selector,
    one_of,
    problems_at,
    required,
)
from crossply.apiserver.builtin.strategies.pod_specs import check_port, port_name_problems
from crossply.apiserver.registry.name_validation import dns_1035_problems, subdomain_problems
from crossply.schema.field_errors import FieldError
from crossply.values import Object

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_CIDR_RULE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_PATHS = ("Exact", "ImplementationSpecific", "Prefix")


class NetworkPolicyStrategy(Strategy):
    counts_generation = True

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = label_selector(spec.get("podSelector"), "spec.podSelector")
        for direction, peers in (("ingress", "from"), ("egress", "to")):
            for index, rule in enumerate(spec.get(direction) or ()):
                errors += _check_rule(rule, f"spec.{direction}[{index}]", peers)
        return errors + _check_types(spec.get("policyTypes") or [])


def _check_types(types: list[str]) -> list[FieldError]:
    if len(types) > 2:
        return [invalid("spec.policyTypes", types, "may not specify more than two policyTypes")]
    errors = []
    for index, kind in enumerate(types):
        errors += one_of(f"spec.policyTypes[{index}]", kind, ["Ingress", "Egress"])
    return errors


def _check_rule(rule: Object, path: str, peers: str) -> list[FieldError]:
    errors = []
    for index, port in enumerate(rule.get("ports") or ()):
        errors += _check_port(port, f"{path}.ports[{index}]")
    for index, peer in enumerate(rule.get(peers) or ()):
        errors += _check_peer(peer, f"{path}.{peers}[{index}]")
    return errors


def _check_port(port: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if port.get("protocol") is not None:
        errors += one_of(f"{path}.protocol", port["protocol"], _PROTOCOLS)
    first, last = port.get("port"), port.get("endPort")
    if isinstance(first, int):
        return errors + check_port(first, f"{path}.port") + _check_range(first, last, path)
    if last is not None:
        why = "not specified" if first is None else "non-numeric"
        errors.append(invalid(f"{path}.endPort", last, f"may not be specified when `port` is {why}"))
    if first is not None:
        errors += problems_at(f"{path}.port", first, port_name_problems(first))
    return errors


def _check_range(first: int, last: int | None, path: str) -> list[FieldError]:
    if last is None:
        return []
    errors = []
    if last < first:
        errors.append(invalid(f"{path}.endPort", first, "must be greater than or equal to `port`"))
    return errors + check_port(last, f"{path}.endPort")


def _check_peer(peer: Object, path: str) -> list[FieldError]:
    selectors = [key for key in ("podSelector", "namespaceSelector") if peer.get(key) is not None]
    errors = []
    for key in selectors:
        errors += label_selector(peer[key], f"{path}.{key}")
    block = peer.get("ipBlock")
    if block is not None:
        errors += _check_block(block, f"{path}.ipBlock")
        if selectors:
            errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    elif not selectors:
        errors.append(required(path, "must specify a peer"))
    return errors


def _check_block(block: Object, path: str) -> list[FieldError]:
    if not block.get("cidr"):
        return [required(f"{path}.cidr")]
    around = _network(block["cidr"])
    errors = [] if around else [invalid(f"{path}.cidr", block["cidr"], _CIDR_RULE)]
    for index, text in enumerate(block.get("except") or ()):
        at = f"{path}.except[{index}]"
        inner = _network(text)
        if inner is None:
            errors.append(invalid(at, text, _CIDR_RULE))
        elif around and not _is_inside(inner, around):
            errors.append(invalid(at, text, "must be a strict subset of `cidr`"))
    return errors


def _network(text: str) -> Network | None:
    if "/" not in text:
        return None
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _is_inside(inner: Network, around: Network) -> bool:
    return inner.version == around.version and inner != around and inner.network_address in around


class IngressStrategy(Strategy):
    counts_generation = True

    def validate(self, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        rules, backend = spec.get("rules") or (), spec.get("defaultBackend")
        if not rules and backend is None:
            detail = "either `defaultBackend` or `rules` must be specified"
            return [invalid("spec", rules or None, detail)]
        errors = [] if backend is None else _check_backend(backend, "spec.defaultBackend")
        for index, rule in enumerate(rules):
            path = f"spec.rules[{index}]"
            host = rule.get("host", "")
            if host and not host.startswith("*."):
                errors += problems_at(f"{path}.host", host, subdomain_problems(host))
            errors += _check_paths((rule.get("http") or {}).get("paths"), f"{path}.http", "http" in rule)
        return errors


def _check_paths(paths: Any, path: str, named: bool) -> list[FieldError]:
    if not named:
        return []
    errors = [] if paths else [required(f"{path}.paths")]
    for index, item in enumerate(paths or ()):
        at = f"{path}.paths[{index}]"
        kind, path_value = item.get("pathType"), item.get("path", "")
        if kind is None:
            errors.append(required(f"{at}.pathType", "pathType must be specified"))
            continue
        if kind in ("Exact", "Prefix") and not path_value.startswith("/"):
            errors.append(invalid(f"{at}.path", path_value, "must be an absolute path"))
        elif kind not in _PATHS:
            errors += one_of(f"{at}.pathType", kind, _PATHS)
        errors += _check_backend(item.get("backend") or {}, f"{at}.backend")
    return errors


def _check_backend(backend: Object, path: str) -> list[FieldError]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return []
    if service is None:
        return [required(path, "port name or number is required")]
    name, port = service.get("name", ""), service.get("port") or {}
    if not name:
        errors = [required(f"{path}.service.name")]
    else:
        errors = problems_at(f"{path}.service.name", name, dns_1035_problems(name))
    if port.get("name") and port.get("number"):
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif port.get("number"):
        errors += check_port(port["number"], f"{path}.service.port.number")
    elif not port.get("name"):
        errors.append(required(path, "port name or number is required"))
    return errors
