"""Validates Pod specs: containers, ports, variables, volumes, policies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from crossply.apiserver.builtin.strategies.field_validation import (
    duplicate,
    forbidden,
    invalid,
    not_negative,
    one_of,
    problems_at,
    required,
)
from crossply.apiserver.registry.metadata_validation import check_labels
from crossply.apiserver.registry.name_validation import dns_label_problems, subdomain_problems
from crossply.schema.field_errors import MAX_ERRORS, FieldError
from crossply.values import Object

PROTOCOLS = ("SCTP", "TCP", "UDP")
_PORT_RULE = "must be between 1 and 65535, inclusive"
_PULL = ("Always", "IfNotPresent", "Never")
_RESTART = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MESSAGES = ("File", "FallbackToLogsOnError")
_VARIABLE = re.compile(r"[ -<>-~]+")
_VARIABLE_RULE = (
    "a valid environment variable name must consist only of printable ASCII characters other than '='"
)
_SOURCES = (
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "flocker",
    "downwardAPI",
    "fc",
    "configMap",
)
"""Volume sources in kube-apiserver's order: it reports the second one that is set."""


def check_template(template: Object | None, path: str) -> list[FieldError]:
    template = template or {}
    labels = (template.get("metadata") or {}).get("labels")
    return check_labels(labels, f"{path}.labels") + check_spec(template.get("spec") or {}, f"{path}.spec")


def check_spec(spec: Object, path: str) -> list[FieldError]:
    errors = _check_volumes(spec.get("volumes") or (), f"{path}.volumes")
    containers = spec.get("containers") or ()
    if not containers:
        errors.append(required(f"{path}.containers"))
    errors += _check_containers(containers, f"{path}.containers", set())
    names = {container.get("name", "") for container in containers}
    errors += _check_containers(spec.get("initContainers") or (), f"{path}.initContainers", names)
    errors += one_of(f"{path}.restartPolicy", spec.get("restartPolicy", ""), _RESTART)
    errors += one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy", ""), _DNS)
    errors += check_labels(spec.get("nodeSelector"), f"{path}.nodeSelector")
    for key in ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"):
        errors += (
            problems_at(f"{path}.{key}", spec[key], subdomain_problems(spec[key])) if spec.get(key) else []
        )
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        detail = "must be between 1 and 2147483647, inclusive"
        errors.append(invalid(f"{path}.activeDeadlineSeconds", deadline, detail))
    for key in ("hostname", "subdomain"):
        errors += (
            problems_at(f"{path}.{key}", spec[key], dns_label_problems(spec[key])) if spec.get(key) else []
        )
    return errors


def _check_volumes(volumes: Sequence[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, volume in enumerate(volumes):
        name, at = volume.get("name", ""), f"{path}[{index}]"
        errors += _check_sources(volume, at)
        if not name:
            errors.append(required(f"{at}.name"))
            continue
        errors += problems_at(f"{at}.name", name, dns_label_problems(name))
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        names.add(name)
        if len(errors) > MAX_ERRORS:
            break
    return errors


def _check_sources(volume: Object, path: str) -> list[FieldError]:
    sources = set(volume) - {"name"}
    known = [source for source in _SOURCES if source in sources]
    extra = [*known, *sorted(sources - set(known))][1:]
    return [forbidden(f"{path}.{source}", "may not specify more than 1 volume type") for source in extra]


def _check_containers(containers: Sequence[Object], path: str, used: set[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    names = set(used)
    for index, container in enumerate(containers):
        at = f"{path}[{index}]"
        errors += _check_container(container, at)
        name = container.get("name", "")
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        names.add(name)
    return errors


def _check_container(container: Object, path: str) -> list[FieldError]:
    name = container.get("name", "")
    errors = (
        problems_at(f"{path}.name", name, dns_label_problems(name)) if name else [required(f"{path}.name")]
    )
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy", "")
    errors += one_of(f"{path}.terminationMessagePolicy", policy, _MESSAGES)
    errors += _check_ports(container.get("ports") or (), f"{path}.ports")
    errors += _check_variables(container.get("env") or (), f"{path}.env")
    errors += _check_mounts(container.get("volumeMounts") or (), f"{path}.volumeMounts")
    errors += one_of(f"{path}.imagePullPolicy", container.get("imagePullPolicy", ""), _PULL)
    errors += check_requirements(container.get("resources") or {}, f"{path}.resources")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        errors += _check_probe(container.get(probe), f"{path}.{probe}")
    return errors


def _check_ports(ports: Sequence[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        at = f"{path}[{index}]"
        name = port.get("name", "")
        if name:
            problems = port_name_problems(name)
            errors += problems_at(f"{at}.name", name, problems)
            if not problems and name in names:
                errors.append(duplicate(f"{at}.name", name))
            names.add(name)
        number = port.get("containerPort") or 0
        errors += check_port(number, f"{at}.containerPort") if number else [required(f"{at}.containerPort")]
        if port.get("hostPort"):
            errors += check_port(port["hostPort"], f"{at}.hostPort")
        errors += one_of(f"{at}.protocol", port.get("protocol", ""), PROTOCOLS)
    return errors


def check_port(number: Any, path: str) -> list[FieldError]:
    """A port is a number from 1 to 65535."""
    return [] if isinstance(number, int) and 1 <= number <= 65535 else [invalid(path, number, _PORT_RULE)]


def port_name_problems(name: str) -> list[str]:
    problems = []
    if len(name) > 15:
        problems.append("must be no more than 15 characters")
    if not re.fullmatch(r"[-a-z0-9]+", name):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search(r"[a-z]", name):
        problems.append("must contain at least one letter (a-z)")
    if "--" in name:
        problems.append("must not contain consecutive hyphens")
    if name.startswith("-") or name.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def _check_variables(variables: Sequence[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, variable in enumerate(variables):
        name, at = variable.get("name", ""), f"{path}[{index}]"
        if not name:
            errors.append(required(f"{at}.name"))
        elif not _VARIABLE.fullmatch(name):
            errors.append(invalid(f"{at}.name", name, _VARIABLE_RULE))
        if variable.get("value") and variable.get("valueFrom"):
            errors.append(invalid(f"{at}.valueFrom", "", "may not be specified when `value` is not empty"))
    return errors


def _check_mounts(mounts: Sequence[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    paths: set[str] = set()
    for index, mount in enumerate(mounts):
        at = f"{path}[{index}]"
        target = mount.get("mountPath", "")
        if not mount.get("name"):
            errors.append(required(f"{at}.name"))
        if not target:
            errors.append(required(f"{at}.mountPath"))
        if target in paths:
            errors.append(invalid(f"{at}.mountPath", target, "must be unique"))
        paths.add(target)
    return errors


def check_requirements(resources: Object, path: str) -> list[FieldError]:
    """Requests must not exceed limits."""
    from crossply.values.quantity import QuantityError, parse

    errors = []
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, amount in requests.items():
        try:
            over = name in limits and parse(limits[name]) < parse(amount)
        except QuantityError:
            continue
        if over:
            detail = f"must be less than or equal to {name} limit of {limits[name]}"
            errors.append(invalid(f"{path}.requests", amount, detail))
    return errors


def _check_probe(probe: Object | None, path: str) -> list[FieldError]:
    if not probe:
        return []
    handlers = [key for key in ("exec", "httpGet", "tcpSocket", "grpc") if probe.get(key) is not None]
    errors = [] if handlers else [required(path, "must specify a handler type")]
    keys = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
    return errors + not_negative(probe, path, *keys)
