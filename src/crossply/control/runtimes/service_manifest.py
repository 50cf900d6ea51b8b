"""The Service that a package is called at, and the service account that it acts as. Everything is pure."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.control.runtimes.manifest_parts import PORT, Subject, metadata_for, references
from crossply.control.runtimes.package_runtimes import FUNCTION
from crossply.values import Object

GRPC, WEBHOOK = "grpc", "webhook"


def service_for(subject: Subject) -> Object:
    """A function's Service has no address of its own: callers see all Pods, and spread their calls."""
    is_function = subject.kind == FUNCTION
    name = subject.name if is_function and subject.service_of_its_own else subject.package
    port = GRPC if is_function else WEBHOOK
    spec: Object = {"selector": subject.selector, "ports": [_port(port)]}
    if is_function:
        spec["clusterIP"] = "None"
        spec["ports"][0]["appProtocol"] = "tls"
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata_for(subject, subject.template("serviceTemplate"), name),
        "spec": spec,
    }


def _port(name: str) -> Object:
    return {"name": name, "protocol": "TCP", "port": PORT, "targetPort": name}


def service_names(service: Object) -> tuple[str, ...]:
    """The names that a Service is called by."""
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    return (name, f"{name}.{namespace}", f"{name}.{namespace}.svc")


def endpoint_of(service: Object) -> str:
    """Where a function behind a Service is called."""
    return f"dns:///{service['metadata']['name']}.{service['metadata']['namespace']}:{PORT}"


def account_for(subject: Subject, existing: Iterable[str] = ()) -> Object:
    """The service account. `existing` are pull secrets that somebody else gave it: it keeps them."""
    template = subject.template("serviceAccountTemplate")
    secrets = (*subject.pull_secrets, *subject.account_secrets, *existing)
    account: Object = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata_for(subject, template, subject.name),
    }
    return {**account, "imagePullSecrets": references(secrets)} if secrets else account
