"""Where the API server is and who we are to it: from a kubeconfig, or from the pod that we run in.

Looked for in this order: the file that was named, the files that KUBECONFIG lists, the service account of
the pod, and ~/.kube/config.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from crossply.errors import CrossplyError
from crossply.kube.credentials import Credential, Credentials, Fixed, TokenFile
from crossply.kube.request_types import Actor
from crossply.kube.tls import Certificate

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


class ConfigError(CrossplyError):
    """No Kubernetes API server is configured: there is no kubeconfig, or it cannot be used."""

    code = "CP-720"
    hint = "name a kubeconfig with KUBECONFIG, or run in a pod with a service account"


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """How to reach one API server as one user."""

    server: str
    """Its URL."""
    authority: bytes = b""
    """The certificates to trust, PEM; empty for those that the system trusts."""
    insecure: bool = False
    server_name: str = ""
    """The name that the server's certificate is checked for, where it is not that of the URL."""
    proxy: str = ""
    credentials: Credentials = field(default_factory=lambda: Fixed(Credential()))
    certificate: Certificate | None = None
    actor: Actor | None = None
    namespace: str = "default"


def load_config(
    path: str | None = None, context: str = "", environment: Mapping[str, str] | None = None
) -> ClusterConfig:
    """Read the configuration; raises ConfigError with what is missing."""
    from crossply.kube.kubeconfig import read_kubeconfig

    env = os.environ if environment is None else environment
    if path:
        return read_kubeconfig([path], context, required=True)
    if env.get("KUBECONFIG"):
        return read_kubeconfig([file for file in env["KUBECONFIG"].split(os.pathsep) if file], context)
    if env.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster(env)
    home = os.path.join(env.get("HOME") or os.path.expanduser("~"), ".kube", "config")
    return read_kubeconfig([home], context)


def in_cluster(environment: Mapping[str, str], directory: str = SERVICE_ACCOUNT) -> ClusterConfig:
    """The configuration of a pod: its service account."""
    host, port = (
        environment.get("KUBERNETES_SERVICE_HOST", ""),
        environment.get("KUBERNETES_SERVICE_PORT", "443"),
    )
    if not host:
        raise ConfigError("not in a pod: KUBERNETES_SERVICE_HOST is not set")
    return ClusterConfig(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        authority=read_file(os.path.join(directory, "ca.crt")),
        credentials=TokenFile(os.path.join(directory, "token")),
        namespace=_namespace(directory),
    )


def _namespace(directory: str) -> str:
    path = os.path.join(directory, "namespace")
    return read_file(path).decode().strip() if os.path.exists(path) else "default"


def read_file(path: str) -> bytes:
    """The contents of a file that a configuration names."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise ConfigError(f"cannot read {path}: {problem.strerror or problem}") from None
