"""The Deployment, Service and ServiceAccount of a package: the user's templates, with defaults and our own.

What the template leaves out gets a default: name, replicas, security contexts, pull policy, service account,
image. Namespace, owner and selector are ours. Ports, environment, volumes and mounts are added to the user's.
Everything is pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crossply.compose.object_metadata import uid_of
from crossply.control.runtimes.manifest_metadata import PORT, REVISION, Subject, metadata_for, references
from crossply.control.runtimes.package_runtime_choice import FUNCTION
from crossply.values import Object
from crossply.values.deepcopy import deepcopy

CONTAINER = "package-runtime"
STAMP = "crossply.dev/certificates"
"""The annotation of Pods that changes when they have to restart to get newer certificates."""
_METRICS = {"name": "metrics", "containerPort": 8080}
_ANYBODY = 2000
_POD_SECURITY = {"runAsNonRoot": True, "runAsUser": _ANYBODY, "runAsGroup": _ANYBODY}
_CONTAINER_SECURITY = {**_POD_SECURITY, "allowPrivilegeEscalation": False, "privileged": False}
_SCRAPE = "prometheus.io/scrape"


class _Mount(NamedTuple):
    """A Secret with certificates in the container."""

    volume: str
    path: str
    variable: str


_SERVER = _Mount("tls-server-certs", "/tls/server", "TLS_SERVER_CERTS_DIR")
_CLIENT = _Mount("tls-client-certs", "/tls/client", "TLS_CLIENT_CERTS_DIR")


def deployment_for(
    subject: Subject, account: str, server_secret: str, client_secret: str = "", stamp: str = ""
) -> Object:
    """The Deployment of a revision. `account` is the name of the service account that is made for it."""
    template = deepcopy(subject.template("deploymentTemplate"))
    spec: Object = template.get("spec") or {}
    spec.setdefault("replicas", 1)
    spec["selector"] = {**(spec.get("selector") or {}), "matchLabels": subject.selector}
    pod: Object = spec.setdefault("template", {})
    runtime = _complete_pod(pod.setdefault("spec", {}), subject, account)
    if client_secret:
        _mount(pod["spec"], runtime, _CLIENT, client_secret)
    _mount(pod["spec"], runtime, _SERVER, server_secret)
    _identify(runtime, subject)
    _label(pod.setdefault("metadata", {}), runtime, subject, stamp)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata_for(subject, template, subject.name),
        "spec": spec,
    }


def _complete_pod(spec: Object, subject: Subject, account: str) -> Object:
    """Fill in the Pod's own fields, and those of the container that runs the package; returns it."""
    spec.setdefault("securityContext", dict(_POD_SECURITY))
    spec["serviceAccountName"] = spec.get("serviceAccountName") or account
    secrets = references((*subject.pull_secrets, *subject.config_secrets))
    spec.pop("imagePullSecrets", None)
    if secrets:
        spec["imagePullSecrets"] = secrets
    runtime = _runtime_first(spec)
    runtime.setdefault("securityContext", dict(_CONTAINER_SECURITY))
    policy = subject.revision["spec"].get("packagePullPolicy")
    runtime["imagePullPolicy"] = policy or runtime.get("imagePullPolicy") or "IfNotPresent"
    runtime["image"] = runtime.get("image") or subject.image
    return runtime


def _runtime_first(spec: Object) -> Object:
    """The container that runs the package, which is made the first one."""
    others = [container for container in spec.get("containers") or () if container.get("name") != CONTAINER]
    named = [container for container in spec.get("containers") or () if container.get("name") == CONTAINER]
    runtime: Object = named[0] if named else {"name": CONTAINER}
    spec["containers"] = [runtime, *others]
    return runtime


def _mount(spec: Object, runtime: Object, mount: _Mount, secret: str) -> None:
    keys = [{"key": name, "path": name} for name in ("tls.crt", "tls.key", "ca.crt")]
    volume = {"name": mount.volume, "secret": {"secretName": secret, "items": keys}}
    spec["volumes"] = _added(spec.get("volumes"), [volume])
    place = {"name": mount.volume, "readOnly": True, "mountPath": mount.path}
    runtime["volumeMounts"] = _added(runtime.get("volumeMounts"), [place], key="mountPath")
    runtime["env"] = _added(runtime.get("env"), [{"name": mount.variable, "value": mount.path}])


def _identify(runtime: Object, subject: Subject) -> None:
    """Set the environment and ports of the container."""
    kind = subject.kind.lower()
    is_function = subject.kind == FUNCTION
    environment = [
        _from_field(f"{kind.upper()}_NAME", f"metadata.labels['pkg.crossplane.io/{kind}']"),
        _from_field("REVISION_NAME", f"metadata.labels['{REVISION}']"),
        {"name": "REVISION_UID", "value": uid_of(subject.revision)},
    ]
    if not is_function:
        environment.insert(0, _from_field("POD_NAMESPACE", "metadata.namespace"))
        environment.append({"name": "WEBHOOK_TLS_CERT_DIR", "value": f"$({_SERVER.variable})"})
    runtime["env"] = _added(runtime.get("env"), environment)
    own = {"name": "grpc" if is_function else "webhook", "containerPort": PORT}
    runtime["ports"] = _without_conflicts(runtime.get("ports"), [_METRICS, own])


def _from_field(name: str, path: str) -> Object:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _label(metadata: Object, runtime: Object, subject: Subject, stamp: str) -> None:
    metadata["labels"] = {**(metadata.get("labels") or {}), **subject.selector}
    annotations = dict(metadata.get("annotations") or {})
    if subject.kind != FUNCTION and _SCRAPE not in annotations:
        port = next(port for port in runtime["ports"] if port.get("name") == _METRICS["name"])
        annotations |= {
            _SCRAPE: "true",
            "prometheus.io/port": str(port["containerPort"]),
            "prometheus.io/path": "/metrics",
        }
    if stamp:
        annotations[STAMP] = stamp
    if annotations:
        metadata["annotations"] = annotations


def _added(written: Any, added: Iterable[Object], key: str = "name") -> list[Object]:
    """The user's entries and then ours; one of the same name is ours, as it would be for the kubelet."""
    added = list(added)
    names = {item[key] for item in added}
    return [*(item for item in written or () if item.get(key) not in names), *added]


def _without_conflicts(written: Any, added: Iterable[Object]) -> list[Object]:
    """The user's entries, and ours of which the user has none."""
    merged: list[Object] = list(written or ())
    names = {item.get("name") for item in merged}
    return [*merged, *(dict(item) for item in added if item["name"] not in names)]


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


def endpoints_for(subject: Subject, address: str, port: int) -> Object:
    """What a Provider's Service leads to where no Pod stands behind it."""
    ports = [{"name": WEBHOOK, "port": port, "protocol": "TCP"}]
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": metadata_for(subject, subject.template("serviceTemplate"), subject.package),
        "subsets": [{"addresses": [{"ip": address}], "ports": ports}],
    }


def endpoint_of(service: Object) -> str:
    """Where a function behind a Service is called."""
    return f"dns:///{service['metadata']['name']}.{service['metadata']['namespace']}:{PORT}"


def service_account_name(subject: Subject) -> str:
    """The service account that the user's template of the Pod names; empty where it names none."""
    pod = (subject.template("deploymentTemplate").get("spec") or {}).get("template") or {}
    return str((pod.get("spec") or {}).get("serviceAccountName") or "")


def account_for(subject: Subject, existing: Iterable[str] = ()) -> Object:
    """The service account. `existing` are pull secrets that other clients added: it keeps them."""
    template = subject.template("serviceAccountTemplate")
    secrets = (*subject.pull_secrets, *subject.account_secrets, *existing)
    account: Object = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata_for(subject, template, subject.name),
    }
    return {**account, "imagePullSecrets": references(secrets)} if secrets else account
