"""The command lines of the programs that make up the real cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import NamedTuple

# What a control plane without nodes needs. Each keeps a promise that the API server alone does not:
# dependents and namespaces go away, service accounts and their root CA appear, cluster roles are aggregated,
# volumes can be deleted.
CONTROLLERS = (
    "clusterrole-aggregation-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "validatingadmissionpolicy-status-controller",
)

AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


class Ports(NamedTuple):
    """Where each program listens, on the loopback address."""

    etcd: int
    etcd_peer: int
    apiserver: int
    controller_manager: int


class Layout(NamedTuple):
    """Where the files of one cluster are."""

    directory: str
    etcd_data: str

    def path(self, *names: str) -> str:
        """A file of this cluster."""
        return os.path.join(self.directory, *names)


def etcd(layout: Layout, ports: Ports) -> list[str]:
    """The store, alone in its cluster."""
    client, peer = f"http://127.0.0.1:{ports.etcd}", f"http://127.0.0.1:{ports.etcd_peer}"
    return [
        "--name=real",
        f"--data-dir={layout.etcd_data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=real={peer}",
        f"--quota-backend-bytes={4 << 30}",
        "--log-level=warn",
    ]


def kube_apiserver(layout: Layout, ports: Ports) -> list[str]:
    """The API server, with RBAC, aggregation and the admission plugins of a usual cluster."""
    return [
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={ports.apiserver}",
        f"--etcd-servers=http://127.0.0.1:{ports.etcd}",
        "--endpoint-reconciler-type=none",  # the API refuses endpoints on the loopback address
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",  # beside those that are on by default
        "--allow-privileged=true",
        f"--tls-cert-file={layout.path('pki', 'server.crt')}",
        f"--tls-private-key-file={layout.path('pki', 'server.key')}",
        f"--client-ca-file={layout.path('pki', 'ca.crt')}",
        f"--token-auth-file={layout.path('pki', 'tokens.csv')}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={layout.path('pki', 'service-accounts.pub')}",
        f"--service-account-signing-key-file={layout.path('pki', 'service-accounts.key')}",
        f"--requestheader-client-ca-file={layout.path('pki', 'front-proxy-ca.crt')}",
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={layout.path('pki', 'front-proxy.crt')}",
        f"--proxy-client-key-file={layout.path('pki', 'front-proxy.key')}",
    ]


def audit(layout: Layout) -> list[str]:
    """Flags of the API server that make it write one line of JSON for every request it has answered."""
    with open(layout.path("audit-policy.json"), "w", encoding="utf-8") as file:
        json.dump(AUDIT_POLICY, file)
    return [
        f"--audit-policy-file={layout.path('audit-policy.json')}",
        f"--audit-log-path={layout.path('logs', 'audit.log')}",
    ]


def kube_controller_manager(layout: Layout, ports: Ports, controllers: Sequence[str]) -> list[str]:
    """The chosen controllers, as a user of the group system:masters."""
    return [
        f"--kubeconfig={layout.path('kubeconfig.controllers')}",
        "--bind-address=127.0.0.1",
        f"--secure-port={ports.controller_manager}",
        f"--tls-cert-file={layout.path('pki', 'server.crt')}",
        f"--tls-private-key-file={layout.path('pki', 'server.key')}",
        "--leader-elect=false",
        f"--controllers={','.join(controllers)}",
        f"--service-account-private-key-file={layout.path('pki', 'service-accounts.key')}",
        f"--root-ca-file={layout.path('pki', 'ca.crt')}",
    ]
