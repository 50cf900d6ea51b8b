"""Strategies of Ingresses and their classes."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.strategies.field_validation import (
    invalid,
    one_of,
    problems_at,
    required,
)
from crossply.apiserver.builtin.strategies.pod_specs import check_port
from crossply.apiserver.registry.name_validation import dns_1035_problems, subdomain_problems
from crossply.schema.field_errors import FieldError
from crossply.values import Object

_PATHS = ("Exact", "ImplementationSpecific", "Prefix")


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
