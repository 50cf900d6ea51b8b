"""A kubeconfig for commands and other processes of a scenario."""

from __future__ import annotations

import base64

from crossply.kube.config import ClusterConfig
from crossply.values import Object


async def kubeconfig_for(config: ClusterConfig) -> Object:
    """A kubeconfig by which a command reaches the same server as the same user."""
    credential = await config.credentials.current()
    user: Object = (
        {"token": credential.authorization.removeprefix("Bearer ")} if credential.authorization else {}
    )
    certificate = credential.certificate or config.certificate
    if certificate is not None:
        user["client-certificate-data"] = base64.b64encode(certificate.certificate).decode()
        user["client-key-data"] = base64.b64encode(certificate.key).decode()
    authority = base64.b64encode(config.authority).decode()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "it", "cluster": {"server": config.server, "certificate-authority-data": authority}}
        ],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "me"}}],
        "current-context": "it",
    }
