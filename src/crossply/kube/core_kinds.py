"""Kinds of Kubernetes itself that the control plane and providers work with."""

from __future__ import annotations

from crossply.kube.kind import Kind

CRD = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
CLUSTER_ROLE_BINDING = Kind(
    "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", False
)
ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role", "roles", True)
ROLE_BINDING = Kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", True)
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", False)
SERVICE_ACCOUNT = Kind("", "v1", "ServiceAccount", "serviceaccounts", True)
SECRET = Kind("", "v1", "Secret", "secrets", True)
SERVICE = Kind("", "v1", "Service", "services", True)
ENDPOINTS = Kind("", "v1", "Endpoints", "endpoints", True)
ENDPOINT_SLICE = Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", True)
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", True)
EVENT = Kind("", "v1", "Event", "events", True)
