"""Usages in a scenario: using and used resources, and the refusal of a deletion."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.kube.failures import Denied
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.e2e.scenario import CONFIG_MAP, Scenario, condition

USAGE = Kind("protection.crossplane.io", "v1beta1", "Usage", "usages", True)
CLUSTER_USAGE = Kind("protection.crossplane.io", "v1beta1", "ClusterUsage", "clusterusages", False)
LEGACY_USAGE = Kind("apiextensions.crossplane.io", "v1beta1", "Usage", "usages", False)
OLDEST_USAGE = LEGACY_USAGE._replace(version="v1alpha1")
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
WEBHOOKS = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    False,
)
CONFIGURATION = "crossply-no-usages"

IN_USE = "crossplane.io/in-use"
DETAILS = "crossplane.io/usage-details"
ATTEMPT = "usage.crossplane.io/deletion-attempt-with-policy"
FINALIZER = "usage.apiextensions.crossplane.io"

READY = condition("Ready", "True", "Available")


def named(kind: Kind, name: str, **fields: str) -> Object:
    """A party of a Usage, by name."""
    return {"apiVersion": kind.api_version, "kind": kind.kind, "resourceRef": {"name": name, **fields}}


def selected(kind: Kind, **selector: Any) -> Object:
    """A party of a Usage, by selector."""
    return {"apiVersion": kind.api_version, "kind": kind.kind, "resourceSelector": selector}


async def use(
    s: Scenario, name: str, of: Object, kind: Kind = USAGE, metadata: Any = None, **spec: Any
) -> Object:
    """Apply a Usage."""
    placed = {"namespace": s.id} if kind.namespaced else {}
    body = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name, **placed, **(metadata or {})},
        "spec": {"of": of, **spec},
    }
    return await s.client.apply(kind, body, "test")


async def config_map(s: Scenario, name: str, namespace: str = "", **metadata: Any) -> Object:
    """Make a ConfigMap to use, or to be used by."""
    return await s.client.create(
        CONFIG_MAP, {"metadata": {"name": name, "namespace": namespace or s.id, **metadata}}
    )


def is_in_use(obj: Object) -> bool:
    """Whether a resource is marked."""
    return (obj["metadata"].get("labels") or {}).get(IN_USE) == "true"


def is_free(obj: Object) -> bool:
    """Whether a resource is not marked."""
    return not is_in_use(obj)


async def refused(s: Scenario, kind: Kind, name: str, namespace: str = "", propagation: str = "") -> Denied:
    """Try to delete a resource in use; return the API server's message."""
    with pytest.raises(Denied) as caught:
        await s.client.delete(kind, name, namespace or s.id, propagation)
    assert caught.value.status == 409
    return caught.value
