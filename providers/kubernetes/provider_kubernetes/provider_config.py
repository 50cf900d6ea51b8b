"""Which cluster the objects are in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from crossply.provider import Credentials, Doc, provider_config

GROUP = "kubernetes.crossplane.io"


@provider_config(group=GROUP, version="v1alpha1", cluster_scoped=True)
@dataclass
class ProviderConfig:
    """A Kubernetes cluster. With the source InjectedIdentity it is the one that the provider runs in."""

    credentials: Annotated[Credentials, Doc("A kubeconfig, or InjectedIdentity.")]
